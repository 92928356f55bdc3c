"""The folders of an old site, in the layouts that the old system wrote."""

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
    """A PDF (or none, cleaned up), and its text as page files, as one file, or not at all."""
    top = root / "_agendas" if agenda else root
    if pdf is not None:
        _write(top / "pdfs" / meeting / f"{day}.pdf", pdf)
    for number in range(1, pages + 1):
        _write(top / "txt" / meeting / day / f"{number}.txt", text.encode())
    if whole:
        _write(top / "txt" / meeting / f"{day}.txt", text.encode())


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
