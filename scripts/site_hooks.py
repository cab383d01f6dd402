"""What MkDocs does beside its own work when it makes a site of `docs/` (mkdocs.yml names this file).

Pages are written for any reader of Markdown: they link to files outside of `docs/` (the README, a data file), say in
the info strings of blocks how these are tested, and hold blocks in comments. Here such files become part of the site
below `project/`, and the rest is taken out.
"""

import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)#\s]+)")
_INFO = re.compile(r"^( *`{3,}[\w-]+)[ \t].*$", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ELSEWHERE = "project"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what pages link to outside of `docs/`, and what those pages link to."""
    waiting = [Path(str(file.abs_src_path)) for file in files.documentation_pages()]
    waiting.append(_project(config) / "README.md")
    while waiting:
        page = waiting.pop()
        for target in {page, *_targets(page)}:
            uri = _uri(target, config)
            if uri.startswith(_ELSEWHERE) and files.get_file_from_path(uri) is None:
                files.append(File.generated(config, uri, abs_src_path=str(target)))
                waiting += [target] if target.suffix == ".md" else []
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - as called
    """The text that readers of the site see, with links as the site has its files."""
    source = Path(str(page.file.abs_src_path))
    here = posixpath.dirname(page.file.src_uri)

    def moved(link: re.Match[str]) -> str:
        target = _target(source, link[1])
        return link[1] if target is None else posixpath.relpath(_uri(target, config), here or ".")

    return _LINK.sub(moved, _INFO.sub(r"\1", _COMMENT.sub("", markdown)))


def _targets(page: Path) -> Iterator[Path]:
    """The files that a page links to, as far as they are there."""
    found = (_target(page, link) for link in _LINK.findall(page.read_text(encoding="utf-8")))
    return (target for target in found if target is not None)


def _target(page: Path, link: str) -> Path | None:
    """The file behind a link; None where there is none, which MkDocs then tells of."""
    target = Path(os.path.normpath(page.parent / link))
    return target if target.is_file() else None


def _uri(target: Path, config: MkDocsConfig) -> str:
    docs = Path(config.docs_dir)
    if target.is_relative_to(docs):
        return target.relative_to(docs).as_posix()
    return f"{_ELSEWHERE}/{target.relative_to(_project(config)).as_posix()}"


def _project(config: MkDocsConfig) -> Path:
    return Path(str(config.config_file_path)).parent
