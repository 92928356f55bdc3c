"""What is deployed opens in Datasette as it is: titles, facets, and a search that finds."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from pipeline.work import deploy
from pipeline.work.database.compilation import DocumentInfo, SiteInfo, compile_site
from pipeline.work.extraction import MeetingContext, extract_document

Add = Callable[..., DocumentInfo]


@pytest.fixture
def datasette(tmp_path: Path, site: SiteInfo, add_document: Add) -> Iterator[httpx.Client]:
    document = add_document(
        "minutes", "Moved by Mr. Lee, seconded by Ms. Ng, to build the levee. Motion carried 5-0."
    )
    facts = tmp_path / "facts.json"
    compile_site(tmp_path / "meetings.db", site, [document])
    extract_document(document.text_dir, facts, MeetingContext(kind="minutes"))
    deploy.assemble(tmp_path / "meetings.db", [deploy.FactsFile(document.id, facts)], tmp_path / "site.db")
    release = deploy.Release(site.subdomain, "2024-1", tmp_path / "site.db", deploy.datasette_metadata(site))
    deploy.publish(release, [f"directory://{tmp_path}/served"])
    with serving(tmp_path / "served") as client:
        yield client


class serving:
    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [sys.executable, "-m", "datasette", "serve", str(folder), "--port", str(port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30, follow_redirects=True)

    def __enter__(self) -> httpx.Client:
        for _ in range(300):
            try:
                self.client.get("/-/versions.json").raise_for_status()
                return self.client
            except httpx.HTTPError:
                assert self.process.poll() is None, self.process.stderr and self.process.stderr.read()
                time.sleep(0.1)
        raise AssertionError("Datasette did not start")

    def __exit__(self, *exc_info: object) -> None:
        self.client.close()
        self.process.terminate()
        self.process.communicate()


@pytest.mark.slow
def test_datasette_opens_it_unchanged_and_finds(datasette: httpx.Client) -> None:
    assert "alameda.ca" in [each["name"] for each in datasette.get("/-/databases.json").json()]
    path = "/alameda~2Eca"  # as Datasette writes a full stop

    front = datasette.get(path).text
    assert "Public records of Alameda, CA" in front
    assert "_compiled" not in front
    pages = datasette.get(f"{path}/pages").text
    assert 'type="search"' in pages
    assert "Search it with the box above the table." in pages
    found = datasette.get(f"{path}/pages.json", params={"_search": "levees", "_shape": "array"}).json()
    assert [page["page"] for page in found] == [1]
    motions = datasette.get(f"{path}/motions.json", params={"_facet": "result"}).json()
    assert motions["facet_results"]["result"]["results"][0]["value"] == "passed"
    ranked = "select snippet(pages_fts, 0, '[', ']', '', 5) from pages_fts where pages_fts match 'levee'"
    answer = datasette.get(f"{path}.json", params={"sql": ranked, "_shape": "array"}).json()
    assert "[levee]" in json.dumps(answer)
