"""Small documents made on the fly, in the shapes cities publish: digital, scanned, broken, locked."""

import io
import random
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pypdfium2
from PIL import Image, ImageChops, ImageFilter
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    DecodedStreamObject,
    DictionaryObject,
    EncodedStreamObject,
    NameObject,
    NumberObject,
    RectangleObject,
)
from reportlab.lib.pagesizes import letter
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

MARGIN = 72
NAMES = (
    "Alvarez", "Baker", "Chen", "Dawson", "Espinoza", "Fischer", "Garcia", "Hughes", "Ibrahim", "Johnson",
    "Kowalski", "Lopez", "Murphy", "Nguyen", "Okafor", "Patel", "Quinn", "Ramirez", "Schmidt", "Thompson",
)  # fmt: skip
STREETS = ("Oak Street", "Mission Avenue", "Harbor Drive", "Elm Court", "Railroad Avenue", "Webster Street")
SENTENCES = (
    "Council Member {a} moved and Council Member {b} seconded a motion to approve item {n} on consent.",
    "The motion carried {v} to {w}, with Council Member {a} dissenting and Council Member {b} absent.",
    "The City Manager reported that the contract with {a} and {b} Engineering may not exceed ${money}.",
    "Staff presented the application for a variance at {n} {street} and recommended approval.",
    "{a} {b}, a resident of {street}, spoke about traffic and asked for a stop sign near the school.",
    "The public hearing was opened at {h}:{m} p.m. and, no one wishing to be heard, closed at {h}:{m} p.m.",
    "Resolution No. {n}-{m} authorizes the purchase of two vehicles for the Police Department.",
    "The Treasurer, {a}, reviewed the quarterly budget; revenue was {m} percent above the estimate.",
    "Commissioner {b} asked that the minutes of the previous meeting be corrected on page {w}.",
    "The Board discussed the water main on {street} and referred it to the committee on public works.",
)


def prose(seed: int = 1, lines: int = 40, width: int = 84) -> list[str]:
    """Lines of a meeting that never was; the same for the same seed."""
    dice = random.Random(seed)
    words: list[str] = []
    wrapped: list[str] = []
    while len(wrapped) < lines:
        words = words or _sentence(dice).split()
        line = words.pop(0)
        while True:
            words = words or _sentence(dice).split()
            if len(line) + 1 + len(words[0]) > width:
                break
            line += " " + words.pop(0)
        wrapped.append(line)
    return wrapped


def _sentence(dice: random.Random) -> str:
    a, b = dice.sample(NAMES, 2)
    return dice.choice(SENTENCES).format(
        a=a,
        b=b,
        n=dice.randint(11, 9899),
        v=dice.randint(4, 7),
        w=dice.randint(1, 3),
        h=dice.randint(6, 9),
        m=dice.randint(10, 59),
        money=f"{dice.randint(10, 999)},{dice.randint(100, 999)}",
        street=dice.choice(STREETS),
    )


def digital(
    pages: Iterable[Sequence[str]], *, font: str = "Helvetica", size: float = 10.5, invisible: bool = False
) -> bytes:
    """A born-digital document: each page is its lines."""
    output = io.BytesIO()
    canvas = Canvas(output, pagesize=letter, invariant=True)
    for lines in pages:
        _write(canvas, lines, font, size, invisible)
        canvas.showPage()
    canvas.save()
    return output.getvalue()


def _write(canvas: Canvas, lines: Sequence[str], font: str, size: float, invisible: bool = False) -> None:
    text = canvas.beginText(MARGIN, letter[1] - MARGIN)
    text.setFont(font, size, leading=size * 1.45)
    text.setTextRenderMode(3 if invisible else 0)
    for line in lines:
        text.textLine(line)
    canvas.drawText(text)


def laid_out(texts: Iterable[tuple[float, float, str]], *, size: float = 10.5) -> bytes:
    """One page, each text at its place (points from the left and from the top), in the order given."""
    output = io.BytesIO()
    canvas = Canvas(output, pagesize=letter, invariant=True)
    canvas.setFont("Helvetica", size)
    for left, top, text in texts:
        canvas.drawString(left, letter[1] - top, text)
    canvas.showPage()
    canvas.save()
    return output.getvalue()


def without_gaps(lines: Sequence[str], size: float = 12) -> bytes:
    """As some word processors write: each word for itself, a space of its own after it, and hardly a gap."""
    texts: list[tuple[float, float, str]] = []
    for number, line in enumerate(lines):
        left = float(MARGIN)
        for word in line.split():
            wide = stringWidth(word, "Helvetica", size)
            texts += [(left, MARGIN + 18 * number, word), (left + wide, MARGIN + 18 * number, " ")]
            left += wide + 0.12 * size
    return laid_out(texts, size=size)


@dataclass(frozen=True)
class Quality:
    """How a page came through the scanner."""

    dpi: int = 200
    skew: float = 0.0
    blur: float = 0.0
    noise: float = 0.0
    paper: int = 255
    ink: int = 0
    jpeg: int = 85


CLEAN = Quality(dpi=300)
OFFICE = Quality(dpi=200, skew=0.4, blur=0.4, noise=10, paper=245, ink=25, jpeg=75)
ROUGH = Quality(dpi=200, skew=-0.8, blur=0.8, noise=22, paper=225, ink=60, jpeg=55)
FAX = Quality(dpi=150, skew=0.5, blur=0.5, noise=14, paper=235, ink=45, jpeg=45)


def scans(pdf: bytes, quality: Quality = CLEAN, turn: int = 0) -> list[Image.Image]:
    """The pages of a document as a scanner would give them, turned clockwise by `turn` degrees."""
    document = pypdfium2.PdfDocument(pdf)
    images = [page.render(scale=quality.dpi / 72, grayscale=True).to_pil() for page in document]
    document.close()
    return [_worn(image, quality).rotate(-turn, expand=True) for image in images]


def _worn(image: Image.Image, quality: Quality) -> Image.Image:
    spread = (quality.paper - quality.ink) / 255
    image = image.point([round(quality.ink + level * spread) for level in range(256)])
    if quality.skew:
        image = image.rotate(quality.skew, resample=Image.Resampling.BICUBIC, fillcolor=quality.paper)
    if quality.blur:
        image = image.filter(ImageFilter.GaussianBlur(quality.blur))
    if quality.noise:
        image = ImageChops.add(image, Image.effect_noise(image.size, quality.noise), offset=-128)
    return image


def scanned(
    pages: Iterable[Sequence[str]], quality: Quality = CLEAN, *, turn: int = 0, size: float = 10.5
) -> bytes:
    """Image-only pages."""
    return images(scans(digital(pages, size=size), quality, turn), quality)


def images(pictures: Sequence[Image.Image], quality: Quality = CLEAN) -> bytes:
    output = io.BytesIO()
    first, *rest = pictures
    first.save(
        output, "PDF", save_all=True, append_images=rest, resolution=float(quality.dpi), quality=quality.jpeg
    )
    return output.getvalue()


def overprinted(lines: Sequence[str], stamp: Sequence[str], *, invisible: bool = False) -> bytes:
    """A scan with text over it: a stamp, or the invisible layer another OCR program left."""
    [picture] = scans(digital([lines]), OFFICE)
    output, jpeg = io.BytesIO(), io.BytesIO()
    picture.save(jpeg, "JPEG", quality=OFFICE.jpeg)
    canvas = Canvas(output, pagesize=letter, invariant=True)
    canvas.drawImage(ImageReader(jpeg), 0, 0, *letter)
    _write(canvas, stamp, "Helvetica", 9, invisible)
    canvas.showPage()
    canvas.save()
    return output.getvalue()


def joined(*documents: bytes) -> bytes:
    """Several documents as one: a mixed one of digital and scanned pages."""
    writer = PdfWriter()
    for document in documents:
        writer.append(io.BytesIO(document))
    return _bytes_of(writer)


def mojibake(lines: Sequence[str]) -> bytes:
    """Looks right and copies wrong: the font's own table sends its letters to the private use area."""
    rows = "\n".join(f"<{code:02X}> <{0xE000 + code:04X}>" for code in range(32, 127))
    table = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"
        f"1 begincodespacerange <00> <FF> endcodespacerange\n95 beginbfchar\n{rows}\nendbfchar\n"
        "endcmap CMapName currentdict /CMap defineresource pop end end"
    )
    return _with_letter_table(lines, table)


def word_salad(lines: Sequence[str]) -> bytes:
    """The same with letters shifted by three: plausible characters, senseless words."""
    rows = []
    for code in range(32, 127):
        target = code
        if chr(code).isalpha():
            base = 65 if code < 97 else 97
            target = base + (code - base + 3) % 26
        rows.append(f"<{code:02X}> <{target:04X}>")
    table = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"
        "1 begincodespacerange <00> <FF> endcodespacerange\n95 beginbfchar\n"
        + "\n".join(rows)
        + "\nendbfchar\nendcmap CMapName currentdict /CMap defineresource pop end end"
    )
    return _with_letter_table(lines, table)


def _with_letter_table(lines: Sequence[str], table: str) -> bytes:
    writer = PdfWriter(clone_from=io.BytesIO(digital([lines])))
    stream = DecodedStreamObject()
    stream.set_data(table.encode())
    reference = writer._add_object(stream)
    for font in writer.pages[0]["/Resources"]["/Font"].values():
        font.get_object()[NameObject("/ToUnicode")] = reference
    return _bytes_of(writer)


def rotated(pdf: bytes, degrees: int) -> bytes:
    """Pages shown turned, by the page's own /Rotate."""
    writer = PdfWriter(clone_from=io.BytesIO(pdf))
    for page in writer.pages:
        page.rotate(degrees)
    return _bytes_of(writer)


def encrypted(pdf: bytes, user: str = "secret", owner: str = "owner") -> bytes:
    writer = PdfWriter(clone_from=io.BytesIO(pdf))
    writer.encrypt(user, owner, algorithm="AES-256")
    return _bytes_of(writer)


def blank(pages: int = 1) -> bytes:
    return digital([[] for _ in range(pages)])


def no_pages() -> bytes:
    writer = PdfWriter()
    writer.add_blank_page(10, 10)
    tree = writer.root_object["/Pages"].get_object()
    tree[NameObject("/Kids")].clear()
    tree[NameObject("/Count")] = NumberObject(0)
    return _bytes_of(writer)


def giant_page(side: int = 14_000_000) -> bytes:
    writer = PdfWriter(clone_from=io.BytesIO(digital([prose(1, 5)])))
    writer.pages[0][NameObject("/MediaBox")] = RectangleObject((0, 0, side, side))
    return _bytes_of(writer)


def form_loop() -> bytes:
    """A form that draws itself, twice: more work at each turn than the one before."""
    writer = PdfWriter(clone_from=io.BytesIO(digital([[]])))
    form = DecodedStreamObject()
    form.update({NameObject("/Type"): NameObject("/XObject"), NameObject("/Subtype"): NameObject("/Form")})
    form[NameObject("/BBox")] = RectangleObject((0, 0, 100, 100))
    form.set_data(b"/F Do /F Do")
    reference = writer._add_object(form)
    page = writer.pages[0]
    page["/Resources"][NameObject("/XObject")] = _names(F=reference)
    writer._objects[reference.idnum - 1][NameObject("/Resources")] = _names(XObject=_names(F=reference))
    contents = DecodedStreamObject()
    contents.set_data(b"/F Do")
    page[NameObject("/Contents")] = writer._add_object(contents)
    return _bytes_of(writer)


def bomb(megabytes: int = 1500) -> bytes:
    """A small file whose page inflates to `megabytes`."""
    packed = _packed(b"0 0 m 1 1 l\n" * 87_382, megabytes)
    writer = PdfWriter(clone_from=io.BytesIO(digital([[]])))
    contents = EncodedStreamObject()
    contents._data = packed
    contents[NameObject("/Filter")] = NameObject("/FlateDecode")
    writer.pages[0][NameObject("/Contents")] = writer._add_object(contents)
    return _bytes_of(writer)


def _packed(block: bytes, times: int) -> bytes:
    """What zlib makes of the block so many times over, without packing it more than once."""
    packer = zlib.compressobj(9)
    first = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = 1
    for _ in range(times):
        checksum = zlib.adler32(block, checksum)
    return first + again * (times - 1) + b"\x03\x00" + checksum.to_bytes(4, "big")


def _names(**entries: object) -> DictionaryObject:
    return DictionaryObject({NameObject(f"/{name}"): value for name, value in entries.items()})


def _bytes_of(writer: PdfWriter) -> bytes:
    output = io.BytesIO()
    writer.write(output)
    return output.getvalue()


def page_count(pdf: bytes) -> int:
    return len(PdfReader(io.BytesIO(pdf)).pages)
