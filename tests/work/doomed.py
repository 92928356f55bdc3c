"""Runs one stage and kills itself at the n-th line of it: `python -m tests.work.doomed STAGE ROOT N`."""

import os
import signal
import sys
from datetime import date
from pathlib import Path
from types import FrameType
from typing import Any

from pipeline.work import deploy
from pipeline.work.database import file
from pipeline.work.database.compilation import DocumentInfo, SiteInfo, compile_site, stable_id
from pipeline.work.extraction import MeetingContext, extract_document

# So little that SQLite writes to the file in the middle of a transaction too.
file.CACHE_KB = 32
SITE = SiteInfo("alameda.ca", "Alameda", "CA")


def documents(root: Path) -> list[DocumentInfo]:
    return [
        DocumentInfo(
            stable_id(text_dir.name), text_dir, body="Council", meeting="Council", date=date(2024, 1, 15)
        )
        for text_dir in sorted((root / "txt").iterdir())
    ]


def facts_files(root: Path) -> list[deploy.FactsFile]:
    return [
        deploy.FactsFile(document.id, root / "facts" / f"{document.id}.json") for document in documents(root)
    ]


def compilation(root: Path) -> None:
    compile_site(root / "meetings.db", SITE, documents(root))


def extraction(root: Path) -> None:
    for document, facts in zip(documents(root), facts_files(root), strict=True):
        extract_document(document.text_dir, facts.path, MeetingContext(kind="minutes"))


def deployment(root: Path) -> None:
    output = root / "assembled.db"
    assembled = deploy.assemble(root / "meetings.db", facts_files(root), output)
    version = f"2024-{assembled.pages:04}-{assembled.digest[:12]}"
    deploy.publish(deploy.Release(SITE.subdomain, version, output), [f"directory://{root}/served"])
    output.unlink()


def killing_at(line: int) -> Any:
    """A trace function that counts the lines of the work and ends the process, with no goodbye, at one."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        if "pipeline/work" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        if count == line:
            os.kill(os.getpid(), signal.SIGKILL)
        trace.count = count  # type: ignore[attr-defined]
        return trace

    return trace


if __name__ == "__main__":
    stage, root, line = sys.argv[1:]
    trace = killing_at(int(line))
    sys.settrace(trace)
    {"compilation": compilation, "extraction": extraction, "deployment": deployment}[stage](Path(root))
    sys.settrace(None)
    sys.stdout.write(str(trace.count))
