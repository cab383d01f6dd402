"""A reader of librarian/ meets few entries, folders that can be surveyed, and the words of the field."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ENTRIES = 20
FILES = 25
# Words of an earlier vocabulary, and what to say instead.
REPLACED = {
    "AsIs": "Unchanged",
    "Asked": "SearchPlan, or the noun",
    "EarlyAnswers": "EarlyResponse",
    "Found": "RankedHits, or the noun",
    "Given": "OptionSpec",
    "Ground": "SweepContext",
    "Lifetime": "RequestDeadline",
    "Meaning": "SemanticSimilarity",
    "_begun": "_start_…",
    "_taken_up": "_resume_…",
    "strangers": "conflicting_distributions",
    "tell_run": "log_run",
}
PHRASES = {
    "is at " + "it": "say who holds the lease",
    "this is " + "no ": "say what is wrong with it",
    "part by " + "part": "in parts",
}


def test_librarian_has_few_entries(files: list[Path]) -> None:
    """The rooms, the facade, the table and the wiring."""
    entries = {path.parts[1] for path in files if path.parts[0] == "librarian"}
    assert len(entries) <= ENTRIES, sorted(entries)


def test_no_room_is_crowded(files: list[Path]) -> None:
    """A folder with more files than one can survey holds more than one subject."""
    counted = Counter(path.parent.as_posix() for path in files if path.parts[0] == "librarian")
    assert {folder: count for folder, count in counted.items() if count > FILES} == {}


def test_names_are_words_of_the_field(sources) -> None:
    """A reader looks for the usual word."""
    odd = {
        f"{source.path}: {name}; say {REPLACED[name]}"
        for source in sources
        for name in _identifiers(source.tree)
        if name in REPLACED
    }
    assert sorted(odd) == []


def test_no_phrase_reads_as_translated(sources) -> None:
    """Docstrings, comments and messages say it as the field does."""
    odd = {
        f"{source.path}: {phrase!r}; {instead}"
        for source in sources
        for phrase, instead in PHRASES.items()
        if re.search(rf"\b{phrase}(?!\w)", source.text)
    }
    assert sorted(odd) == []


def _identifiers(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.alias(name=name):
                yield name
