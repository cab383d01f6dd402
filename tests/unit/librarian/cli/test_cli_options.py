"""Options become the contracts' structs."""

import io
import sys
from types import SimpleNamespace

import msgspec
import pytest
import typer
from typer.testing import CliRunner

from librarian.base.errors import InvalidInput, NotFound
from librarian.cli import options
from librarian.cli.options import FILTERS, OPTIONS, name_option, struct_of, takes
from librarian.items.contracts import (
    CorrectInput,
    DeleteInput,
    Filters,
    ItemQuery,
    LinkInput,
    RememberInput,
    UnlinkInput,
)
from librarian.search.contracts import RelevantInput, SearchInput, SemanticSearchInput


@pytest.mark.parametrize("contract", OPTIONS)
def test_no_two_fields_share_an_option(contract):
    names = [name for spec in OPTIONS[contract].values() for name in (spec.name, spec.short) if name]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("contract", [SearchInput, ItemQuery, DeleteInput])
def test_filters_are_the_same_options_everywhere(contract):
    assert {field: OPTIONS[contract.__name__][field] for field in FILTERS} == dict(FILTERS)


def given(contract, *args):
    """The struct that a command gets from these arguments."""
    app = typer.Typer()
    got = []

    @app.command()
    @takes(contract)
    def command(struct: contract, *, as_json: options.JsonOption = False) -> None:
        got.append(struct)

    result = CliRunner().invoke(app, args)
    return got[0] if got else result


def test_nothing_given_is_the_contract_s_defaults():
    assert given(ItemQuery) == ItemQuery()
    assert given(RememberInput) == RememberInput()
    assert given(SearchInput, "a") == SearchInput(queries=["a"])


def test_filters_stand_where_the_contract_has_them():
    args = ("--kind", "fact", "--kind", "memory", "--tag", "x", "--to", "2026-03-01")
    filters = msgspec.convert(
        {"kinds": ["fact", "memory"], "tags": ["x"], "occurred_to": "2026-03-01T23:59:59.999999Z"}, Filters
    )
    assert given(SearchInput, "a", "b", *args, "-k", "3", "--explain") == SearchInput(
        queries=["a", "b"], limit=3, explain=True, filters=filters
    )
    assert given(DeleteInput, *args).filters == filters
    assert given(DeleteInput, "u1", "u2") == DeleteInput(uids=["u1", "u2"])
    listed = given(ItemQuery, *args, "--order", "oldest", "--cursor", "c")
    assert (listed.kinds, listed.occurred_to, listed.order) == (filters.kinds, filters.occurred_to, "oldest")


def test_as_many_hits_as_there_can_be_are_given():
    assert given(SearchInput, "a", "--limit", "50").limit == 50
    assert given(RelevantInput, "a", "--max-hits", "50").max_hits == 50


def test_positions_have_the_order_of_the_usage():
    assert given(LinkInput, "a", "BLOCKS", "b") == LinkInput(source="a", target="b", type="BLOCKS")
    corrected = given(CorrectInput, "u", "--object", "Porto", "--attribute", "floor=3")
    assert corrected == CorrectInput(uid="u", object="Porto", attributes={"floor": 3})


def test_a_memory_s_text_may_come_from_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"long\ntext\n")))
    assert struct_of(RememberInput, {"text": "-"}).text == "long\ntext"


@pytest.mark.parametrize(
    ("contract", "args", "words"),
    [
        (SearchInput, ("a", "--kind", "poem"), ("--kind", "'poem'", "file_chunk")),
        (SearchInput, ("a", "--limit", "0"), ("--limit", ">= 1")),
        (SearchInput, ("a", "--limit", "51"), ("--limit: 51 are more than the 50 hits of one search", "--author")),
        (SemanticSearchInput, ("a", "-k", "60"), ("--limit: 60 are more", "Ask for 50")),
        (RelevantInput, ("a", "-k", "51"), ("--max-hits: 51 are more", "Ask for 50")),
        (SearchInput, ("a", "--from", "soon"), ("--from", "2026-03-01")),
        (SearchInput, ("",), ("QUERY",)),
        (RememberInput, ("x", "--importance", "11"), ("--importance", "1 to 10")),
        (RememberInput, ("x", "--type", "poem"), ("--type", "Pattern")),
        (RememberInput, ("\udcff",), ("TEXT", "UTF-8")),
        (RememberInput, ("x", "--tag", "\udcff"), ("--tag", "UTF-8")),
        (LinkInput, ("a", "causes", "b"), ("TYPE", "CAUSES")),
        (LinkInput, ("a b", "CAUSES", "b"), ("SOURCE",)),
        (DeleteInput, ("a/b",), ("UID",)),
        (ItemQuery, ("--order", "best"), ("--order", "oldest")),
    ],
)
def test_a_wrong_value_is_said_with_its_option_and_what_that_takes(contract, args, words):
    failed = given(contract, *args)
    assert failed.exit_code == 65
    assert failed.stdout == ""
    assert all(word in failed.stderr for word in words), failed.stderr


def test_errors_of_the_use_case_name_the_option_too():
    missing = NotFound("no such item", field="$.source")
    name_option(missing, UnlinkInput)
    assert (missing.field, missing.remedy) == ("SOURCE", None)
    nothing = InvalidInput("name uids or a filter", field="$.filters")
    name_option(nothing, DeleteInput)
    assert nothing.field is None
