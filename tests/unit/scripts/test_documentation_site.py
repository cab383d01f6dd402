"""The site of the documentation builds without a warning, needs nothing from elsewhere, and shows what was meant."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from scripts.generated import GENERATED

PROJECT = Path(__file__).resolve().parents[3]
ELSEWHERE = re.compile(r"^(?:https?:)?//")
# What a reader sees where Markdown was not understood: a list, a table, a heading or a fence inside of a paragraph.
RAW = re.compile(r"(?:^|\n)(?:- |\d+\. |\|.*\|\s*$|#+ |```)", re.MULTILINE)
LOADING = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "object": "data"}


class Reading(HTMLParser):
    """Collects the addresses that a page loads, and the text of its paragraphs."""

    def __init__(self):
        super().__init__()
        self.loaded = []
        self.paragraphs = []
        self._in_paragraph = False

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if given.get("rel") != "canonical" and LOADING.get(tag) in given:
            self.loaded.append(given[LOADING[tag]])
        if tag == "p":
            self._in_paragraph = True
            self.paragraphs.append("")

    def handle_endtag(self, tag):
        if tag == "p":
            self._in_paragraph = False

    def handle_data(self, data):
        if self._in_paragraph:
            self.paragraphs[-1] += data


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site as `make docs` builds it, elsewhere."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # of the theme's successor
    done = subprocess.run(command, cwd=PROJECT, env=quiet, capture_output=True, text=True, check=False)
    assert (done.returncode, "WARNING" in done.stderr) == (0, False), done.stderr
    return folder


@pytest.fixture(scope="module")
def read(site):
    """Every page of the site, parsed."""
    found = {}
    for page in site.rglob("*.html"):
        found[page.relative_to(site).as_posix()] = reading = Reading()
        reading.feed(page.read_text(encoding="utf-8"))
    return found


def test_every_page_is_on_the_site(site, read):
    """Those of the folder and the generated ones; strict building has followed their links and anchors."""
    written = {path.relative_to(PROJECT / "docs") for path in (PROJECT / "docs").rglob("*.md")}
    generated = {Path(name) for name in GENERATED}
    pages = {path.with_suffix(".html") for path in written | generated if path.suffix == ".md"}
    named = {page.with_name("index.html").as_posix() if page.stem == "README" else page.as_posix() for page in pages}
    assert len(named) > 30
    assert named <= set(read)
    assert (site / "tools.json").is_file()


def test_nothing_is_loaded_from_elsewhere(site, read):
    """Neither by pages nor by styles: the site works without a network."""
    from_elsewhere = {entry for page in read.values() for entry in page.loaded if ELSEWHERE.match(entry)}
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    from_elsewhere |= {
        url for style in styles for url in re.findall(r"url\(['\"]?([^'\")]+)", style) if ELSEWHERE.match(url)
    }
    assert from_elsewhere == set()


def test_markdown_is_understood_by_the_site_as_by_other_readers(read):
    """A list without an empty line before it is a list elsewhere, and would be a paragraph here."""
    raw = {
        f"{page}: {text.strip()[:80]}"
        for page, reading in read.items()
        for text in reading.paragraphs
        if RAW.search(text)
    }
    assert sorted(raw) == []
