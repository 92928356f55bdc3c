"""The words of the OCR stage: what may be asked of it, and what it answers."""

from dataclasses import dataclass, field

from pipeline.work.ocr.process.memory import MIB

# A word and its box on the page as a viewer shows it, in ten-thousandths of its width and height
# (left, top, right, bottom), with the engine's confidence in percent (100 for a text layer).
SCALE = 10_000
Word = tuple[str, int, int, int, int, int]

TEXT, OCR, BLANK, HTML, FAILED = "text", "ocr", "blank", "html", "failed"
# Reasons that are findings, too.
SALAD, DAMAGED = "word_salad_read", "damaged"
PHOTOGRAPH, DRAWING, HANDWRITING = "a photograph", "a map or drawing", "handwriting"


@dataclass(frozen=True)
class OcrOptions:
    engine: str = "auto"
    tesseract_cmd: str | None = None
    tessdata: str | None = None
    # Whether the reader is shut in, and the folders that a plug-in engine may read there, joined as in PATH.
    sandbox: bool = True
    read_dirs: str = ""
    # The first look at a page, and the second when the first was doubtful. What recognition costs goes with a
    # line's width in units of its height: narrowed to 0.85 it reads as well and is cheaper (docs/ocr.md).
    dpi: int = 150
    squeeze: float = 0.85
    careful_dpi: int = 200
    doubtful: float = 82
    # A person has seen that the file's own text is no good.
    ignore_text: bool = False
    # Pages that the first engine is less sure of are read by the accurate one, too; 0: none.
    accurate_below: float = 0
    max_megapixels: float = 12
    memory_limit: int = 640 * MIB
    page_seconds: float = 120
    document_seconds: float = 19 * 60
    max_pages: int = 5000
    max_bytes: int = 500 * MIB
    # Pages that may be given up (hang, crash, too much memory) before the whole document is.
    max_failed_pages: int = 3

    @property
    def asked(self) -> dict[str, object]:
        """What a person asked for: text that was read otherwise is not this text."""
        usual = OcrOptions()
        names = ("ignore_text", "dpi")
        return {name: getattr(self, name) for name in names if getattr(self, name) != getattr(usual, name)}

    @property
    def address_space(self) -> int:
        """The wall behind the memory limit: room for what is mapped and not used.

        OpenVINO maps gigabytes that it never touches, and where it gets none it answers with an older result.
        """
        accurate = self.engine == "accurate" or self.accurate_below > 0
        return self.memory_limit + (4096 * MIB if accurate else 256 * MIB)


@dataclass(frozen=True)
class PageText:
    """One page read: its text, and how and how well it was come by."""

    number: int
    text: str
    method: str
    reason: str
    confidence: float | None = None
    seconds: float = 0.0
    ink: bool = True
    # Degrees the page was turned clockwise to be read upright.
    rotation: int = 0
    # What a page with hardly any text seems to be.
    looks: str = ""
    # The further engine that was asked, and whether its reading is the one that stayed.
    tried: str = ""
    engine: str = ""
    words: list[Word] = field(default_factory=list)


@dataclass(frozen=True)
class OcrResult:
    pages: int
    characters: int
    methods: dict[str, int]
    findings: list[str]
    seconds: float
    # Mean over the recognised pages, weighted by their length; None when nothing had to be recognised.
    confidence: float | None
