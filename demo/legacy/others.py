"""The sites that were not stuck: every status, every kind of storage, and what years of use leave behind."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from demo.legacy.storage import add_document, publish
from demo.printing import digital

STATUSES = ("new", "needs_ocr", "needs_extraction", "needs_deploy", "deployed", "no_documents")
# What people and older releases wrote there.
ODD_STATUSES = (None, "", "DEPLOYED", "failed", "needs_fetch ", "archived (naïve)")
# Where the old table had a site; None: nowhere.
STAGES = (
    None,
    "fetch",
    "compilation",
    "extraction",
    "deploy",
    "completed",
    None,
    "ocr_complete",
    "",
    "paused",
)
# Times as texts, which is what the old columns hold.
TIMES = (
    "2024-10-01T07:08:09",
    "2023-02-03 04:05:06.789",
    "2022-01-01",
    "",
    None,
    "yesterday",
    "2024-13-45T99:00:00",
    "1700000000",
    "2024-10-01T07:08:09+02:00",
    "0001-01-01T00:00:00",
)
# Neither slashes nor anything else that no folder could be called, but all that cities come up with.
ODD_NAMES = (
    "Parks & Recreation",
    "Comisión de Planificación",
    "Board of Ed. (special)",
    "100% Committee",
    "O'Brien",
    "pdfs",
    "txt",
    "_agendas",
)
SAYS = "{site}, {meeting}, {day}, page {page}: the council met. Motion carried 5-0."


def fill(root: Path, number: int) -> None:
    """The folder of the site with this number, as the old system would have left it."""
    KINDS[number % len(KINDS)](root)


def _add(root: Path, day: str, **how: object) -> None:
    add_document(root, day, **({"text": SAYS} | how))  # type: ignore[arg-type]


def _pages(root: Path) -> None:
    for number in range(1, 6):
        _add(root, f"2024-01-{number:02}", pages=number)
    publish(root)


def _agendas_and_whole_files(root: Path) -> None:
    _add(root, "2024-01-01", agenda=True, pages=2)
    _add(root, "2024-01-01", pages=1)
    _add(root, "2024-02-01", whole=True)
    _add(root, "2024-03-01", agenda=True)
    publish(root)


def _cleaned_up(root: Path) -> None:
    """The old system deleted a PDF once it had its text."""
    _add(root, "2024-01-01", pdf=None, pages=3)
    _add(root, "2024-01-02", pdf=None, whole=True)
    publish(root)


def _only_the_database(root: Path) -> None:
    _pages(root)
    for name in ("pdfs", "txt", "_agendas"):
        shutil.rmtree(root / name, ignore_errors=True)


def _half_in_the_database(root: Path) -> None:
    """Some texts were lost after they had been published, a page file here and a document there."""
    _pages(root)
    (root / "txt" / "CityCouncil" / "2024-01-03" / "2.txt").unlink()
    shutil.rmtree(root / "txt" / "CityCouncil" / "2024-01-04")
    (root / "pdfs" / "CityCouncil" / "2024-01-05.pdf").unlink()


def _half_read(root: Path) -> None:
    """OCR was killed after two of three pages."""
    day = "2024-01-01"
    said = SAYS.format(site=root.name, meeting="CityCouncil", day=day, page="{}")
    _add(root, day, pages=2, pdf=digital([[said.format(number)] for number in (1, 2, 3)]))
    publish(root)


def _unread(root: Path) -> None:
    _add(root, "2024-01-01", pages=1)
    publish(root)
    _add(root, "2024-01-02", pdf=digital([["The minutes of the city council that nobody has read yet."]]))
    _add(root, "2024-01-03")
    _add(root, "2024-01-04", pdf=b"")


def _odd_names(root: Path) -> None:
    for number, name in enumerate(ODD_NAMES, start=1):
        _add(root, f"2024-01-{number:02}", meeting=name, pages=2)
    _add(root, "special meeting (3)", meeting="A/B", pages=2)
    (root / "pdfs" / "A" / ".DS_Store").write_bytes(b"\0")
    publish(root)
    council = root / "txt" / "Council" / b"caf\xe9".decode("utf-8", "surrogateescape")
    council.mkdir(parents=True)
    (council / "1.txt").write_text("In a folder that is not UTF-8")


def _links(root: Path) -> None:
    """To where nothing is any more, to another disk, and round in a circle."""
    _add(root, "2024-01-01", pages=1)
    (root / "pdfs" / "CityCouncil" / "2024-01-02.pdf").symlink_to(root / "nowhere.pdf")
    elsewhere = root.parent.parent / "another-disk" / root.name
    _add(elsewhere, "2024-01-03", meeting="Linked", pages=1, text=SAYS.replace("{site}", root.name))
    for name in ("pdfs", "txt"):
        (root / name / "Linked").symlink_to(elsewhere / name / "Linked")
    (root / "pdfs" / "Loop").symlink_to(root / "pdfs")
    publish(root)


def _blank(root: Path) -> None:
    """A page without a word is one that was read, and that readers saw."""
    _add(root, "2024-01-01", pages=2)
    _add(root, "2024-01-02", pages=1, text="\f")
    _add(root, "2024-01-03", pages=1, text="\f", pdf=None)
    publish(root)


def _strange_database(root: Path) -> None:
    """One page twice, two texts of one page, pages without number, date or meeting; a further column."""
    _add(root, "2024-01-01", pages=2)
    publish(root)
    name = root.name
    with closing(sqlite3.connect(root / "meetings.db")) as database, database:
        database.executemany(
            "INSERT INTO minutes (id, meeting, date, page, text) VALUES (?, ?, ?, ?, ?)",
            [
                ("a", "CityCouncil", "2024-01-01", 1, f"{name}: another text of page 1"),
                ("b", "Old/Board", "1998", None, f"{name}: of no page"),
                ("c", None, None, 3, f"{name}: of no meeting and no date"),
                ("d", "../../etc", "..", 1, f"{name}: of a meeting that would leave its folder"),
                ("e", "Null", "2024-01-01", 1, None),
                ("f", "Long " * 60, "2024-01-01", -1, f"{name}: of a meeting with a long name"),
            ],
        )
        database.execute("ALTER TABLE minutes ADD COLUMN notes TEXT")


def _damaged_database(root: Path) -> None:
    _add(root, "2024-01-01", pages=1)
    (root / "meetings.db").write_bytes(b"this was a database once")


def _empty(root: Path) -> None:
    (root / "pdfs").mkdir(parents=True)


def _nothing(root: Path) -> None:
    pass


KINDS: tuple[Callable[[Path], None], ...] = (
    _pages,
    _agendas_and_whole_files,
    _cleaned_up,
    _only_the_database,
    _half_in_the_database,
    _half_read,
    _unread,
    _odd_names,
    _links,
    _blank,
    _strange_database,
    _damaged_database,
    _empty,
    _nothing,
)
