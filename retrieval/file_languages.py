"""The language of a file, by its name."""

from collections.abc import Mapping
from pathlib import PurePosixPath

_ENDINGS: Mapping[str, str] = {
    "python": "py pyi pyw",
    "javascript": "js jsx mjs cjs",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "kotlin": "kt kts",
    "scala": "scala sc",
    "c": "c h",
    "cpp": "cc cpp cxx c++ hh hpp hxx h++ ipp",
    "csharp": "cs csx",
    "ruby": "rb rake gemspec",
    "php": "php phtml",
    "swift": "swift",
    "shell": "sh bash zsh fish ksh",
    "powershell": "ps1 psm1",
    "sql": "sql",
    "cypher": "cypher cql",
    "html": "html htm xhtml",
    "css": "css scss sass less",
    "vue": "vue",
    "svelte": "svelte",
    "markdown": "md markdown mdx",
    "restructuredtext": "rst",
    "json": "json jsonc json5 jsonl ndjson",
    "yaml": "yaml yml",
    "toml": "toml",
    "xml": "xml xsd xsl xslt svg",
    "ini": "ini cfg conf properties",
    "text": "txt text log",
    "lua": "lua",
    "perl": "pl pm",
    "r": "r",
    "julia": "jl",
    "haskell": "hs",
    "elixir": "ex exs",
    "erlang": "erl hrl",
    "clojure": "clj cljs cljc edn",
    "dart": "dart",
    "protobuf": "proto",
    "graphql": "graphql gql",
    "terraform": "tf tfvars",
    "make": "mk mak",
    "gettext": "po pot",
}
_NAMES: Mapping[str, str] = {
    "dockerfile": "dockerfile",
    "makefile": "make",
    "gnumakefile": "make",
    "rakefile": "ruby",
    "gemfile": "ruby",
    "cmakelists.txt": "cmake",
}
_BY_ENDING = {f".{ending}": language for language, endings in _ENDINGS.items() for ending in endings.split()}

_OTHERS = "csv tsv pdf png jpg jpeg gif ico lock map sum env tex bib adoc ipynb pyx pxd diff patch zip tar gz snap in"
ENDINGS = frozenset(ending.removeprefix(".") for ending in _BY_ENDING) | frozenset(_OTHERS.split())
"""Endings after the last dot of a file name."""

LANGUAGES = tuple(sorted({*_ENDINGS, *_NAMES.values()}))
"""Every language that a file may have."""


def language_of(path: str) -> str | None:
    """Return the language of a file; None if its name does not indicate one."""
    name = PurePosixPath(path).name.casefold()
    return _NAMES.get(name) or _BY_ENDING.get(PurePosixPath(name).suffix)
