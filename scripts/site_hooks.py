"""MkDocs hooks for the site built from `docs/` (mkdocs.yml names this file).

Pages are written for any Markdown reader: they link to files outside of `docs/` (the README, a data file), describe in
info strings how blocks are tested, and hold blocks in comments. On the site such files are below `project/`, info
strings and comments are removed, and the pages generated from the program are added.
"""

import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from scripts.generated import GENERATED, generated

_LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)#\s]+)")
_INFO = re.compile(r"^( *`{3,}[\w-]+)[ \t].*$", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ELSEWHERE = "project"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List every decision record in the navigation."""
    docs = Path(config.docs_dir)
    records = sorted(path.relative_to(docs).as_posix() for path in docs.glob("decisions/[0-9]*.md"))
    for section in config.nav or ():
        for entry in next(iter(section.values())):
            if isinstance(entry, dict) and "Decisions" in entry:
                entry["Decisions"].extend(records)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated files, and files outside of `docs/` that pages link to, recursively."""
    waiting = [Path(str(file.abs_src_path)) for file in files.documentation_pages()]
    waiting.append(_project(config) / "README.md")
    for name, text in generated(Path(config.docs_dir)).items():
        files.append(File.generated(config, name, content=text))
    while waiting:
        page = waiting.pop()
        for target in {page, *_targets(page, config)}:
            uri = _uri(target, config)
            if uri.startswith(_ELSEWHERE) and files.get_file_from_path(uri) is None:
                files.append(File.generated(config, uri, abs_src_path=str(target)))
                waiting += [target] if target.suffix == ".md" else []
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - as called
    """Return the text for the site, with links to the site's files."""
    source = Path(page.file.abs_src_path or Path(config.docs_dir) / page.file.src_uri)
    here = posixpath.dirname(page.file.src_uri)

    def moved(link: re.Match[str]) -> str:
        target = _target(source, link[1], config)
        return link[1] if target is None else posixpath.relpath(_uri(target, config), here or ".")

    return _LINK.sub(moved, _INFO.sub(r"\1", _COMMENT.sub("", markdown)))


def _targets(page: Path, config: MkDocsConfig) -> Iterator[Path]:
    """Yield the existing files that a page links to."""
    found = (_target(page, link, config) for link in _LINK.findall(page.read_text(encoding="utf-8")))
    return (target for target in found if target is not None)


def _target(page: Path, link: str, config: MkDocsConfig) -> Path | None:
    """Return the target file of a link; None if it is missing, which MkDocs then reports."""
    target = Path(os.path.normpath(page.parent / link))
    docs = Path(config.docs_dir)
    is_generated = target.is_relative_to(docs) and target.relative_to(docs).as_posix() in GENERATED
    return target if is_generated or target.is_file() else None


def _uri(target: Path, config: MkDocsConfig) -> str:
    docs = Path(config.docs_dir)
    if target.is_relative_to(docs):
        return target.relative_to(docs).as_posix()
    return f"{_ELSEWHERE}/{target.relative_to(_project(config)).as_posix()}"


def _project(config: MkDocsConfig) -> Path:
    return Path(str(config.config_file_path)).parent
