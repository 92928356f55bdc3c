"""The folders of an old site, in the layouts that the old system wrote."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

PAGE = "The council met at 7 pm. Roll call: all present. Motion carried 5-0."


def add_document(
    root: Path,
    day: str,
    *,
    meeting: str = "CityCouncil",
    agenda: bool = False,
    pdf: bytes | None = b"%PDF-1.4 old",
    pages: int = 0,
    whole: bool = False,
    text: str = PAGE,
) -> None:
    """A PDF (or none, cleaned up), and its text as page files, as one file, or not at all.

    The text may name its {site}, {meeting}, {day} and {page}.
    """
    top = root / "_agendas" if agenda else root
    for name, value in {"site": root.name, "meeting": meeting, "day": day}.items():
        text = text.replace(f"{{{name}}}", value)
    if pdf is not None:
        _write(top / "pdfs" / meeting / f"{day}.pdf", pdf)
    for number in range(1, pages + 1):
        _write(top / "txt" / meeting / day / f"{number}.txt", text.replace("{page}", str(number)).encode())
    if whole:
        _write(top / "txt" / meeting / f"{day}.txt", text.encode())


def publish(root: Path) -> None:
    """The old system's `meetings.db`: a row for each page file, minutes and agendas apart."""
    with closing(sqlite3.connect(root / "meetings.db")) as database, database:
        for table, top in (("minutes", root), ("agendas", root / "_agendas")):
            database.execute(
                f"CREATE TABLE {table} (id TEXT PRIMARY KEY, meeting TEXT, date TEXT, page INTEGER,"
                " text TEXT, page_image TEXT)"
            )
            database.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?)", _rows(top / "txt"))


def _rows(texts: Path) -> Iterator[tuple[str, str, str, int, str, str]]:
    for file in sorted(texts.glob("**/*.txt")):
        meeting, day = _name(file.parent.parent.relative_to(texts)), _name(Path(file.parent.name))
        if file.stem.isdigit() and meeting != ".":
            text = file.read_text(encoding="utf-8", errors="replace")
            yield f"{meeting}/{day}/{file.stem}", meeting, day, int(file.stem), text, ""


def _name(path: Path) -> str:
    return str(path).encode("utf-8", "replace").decode()


def published(root: Path) -> dict[tuple[str, str, str, int], str]:
    """Every page that a reader of the old system's database can read."""
    file = root / "meetings.db"
    if not file.is_file():
        return {}
    with closing(sqlite3.connect(file)) as database:
        return {
            (table, meeting, day, page): text
            for table in ("minutes", "agendas")
            for meeting, day, page, text in database.execute(f"SELECT meeting, date, page, text FROM {table}")
        }


def texts_shown(root: Path) -> list[str]:
    """Of every page, in whatever state its database is; a row that is there twice is one page."""
    file = root / "meetings.db"
    texts: list[str] = []
    for table in ("minutes", "agendas"):
        question = f"SELECT DISTINCT meeting, date, page, text FROM {table} WHERE text IS NOT NULL"
        try:
            with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as database:
                texts += [text for *_, text in database.execute(question)]
        except sqlite3.DatabaseError:
            continue
    return texts


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
