"""HTTP, tools and command line take the same fields, because they are made from the same structs."""

import pytest

from librarian.cli.lazy import COMMANDS, load
from librarian.cli.options import OPTIONS
from librarian.contracts.answer import AnswerInput
from librarian.contracts.causal import CausalInput, ContradictionQuery, CycleQuery, NeighbourhoodQuery, PathQuery
from librarian.contracts.changes import CorrectInput, DeleteInput, RememberInput
from librarian.contracts.edges import EdgeQuery, UnlinkInput
from librarian.contracts.files import FindFileInput, LocateInput, SearchTextInput, StaleQuery
from librarian.contracts.filters import Filters
from librarian.contracts.items import LinkInput
from librarian.contracts.listing import ItemQuery
from librarian.contracts.relevant import RelevantInput
from librarian.contracts.reviews import ReviewInput, ReviewQuery
from librarian.contracts.search import SearchInput
from librarian.contracts.search_agent import FindEvidenceInput
from librarian.contracts.semantic import SemanticSearchInput
from librarian.contracts.sweeps import SweepScope
from librarian.contracts.why_not import WhyNotInput
from librarian.http.api import OPERATIONS
from librarian.tools import TOOLS

# Command -> the contract whose fields are its options, and what it takes beside them.
COMMANDS_OF = {
    "search": (SearchInput, {"namespace", "as_json"}),
    "why-not": (WhyNotInput, {"namespace", "as_json"}),
    "search-facts": (SemanticSearchInput, {"namespace", "as_json"}),
    "search-messages": (SemanticSearchInput, {"namespace", "as_json"}),
    "search-memories": (SemanticSearchInput, {"namespace", "as_json"}),
    "search-all": (SemanticSearchInput, {"namespace", "as_json"}),
    "ask": (AnswerInput, {"namespace", "as_json"}),
    "relevant": (RelevantInput, {"namespace", "as_json"}),
    "find-file": (FindFileInput, {"namespace", "as_json"}),
    "search-text": (SearchTextInput, {"namespace", "as_json"}),
    "locate": (LocateInput, {"namespace", "as_json"}),
    "stale": (StaleQuery, {"namespace", "as_json"}),
    "list": (ItemQuery, {"namespace", "every", "as_json"}),
    "edges": (EdgeQuery, {"namespace", "every", "as_json"}),
    "causes": (CausalInput, {"namespace", "form", "as_json"}),
    "effects": (CausalInput, {"namespace", "form", "as_json"}),
    "blockers": (CausalInput, {"namespace", "form", "as_json"}),
    "enablers": (CausalInput, {"namespace", "form", "as_json"}),
    "graph": (NeighbourhoodQuery, {"namespace", "form", "as_json"}),
    "path": (PathQuery, {"namespace", "as_json"}),
    "contradictions": (ContradictionQuery, {"namespace", "as_json"}),
    "cycles": (CycleQuery, {"namespace", "as_json"}),
    "sweep": (SweepScope, {"namespace", "resume", "apply", "dry_run", "llm", "json_report"}),
    "review": (ReviewQuery, {"namespace", "export", "every", "as_json"}),
    "search-agent": (FindEvidenceInput, {"namespace", "trace", "as_json"}),
    "remember": (RememberInput, {"namespace", "no_embed", "as_json"}),
    "correct": (CorrectInput, {"namespace", "no_embed", "as_json"}),
    "forget": (DeleteInput, {"namespace", "yes", "as_json"}),
    "link": (LinkInput, {"namespace", "as_json"}),
}
# `librarian unlink` takes one or three words, `librarian review accept` and `reject` the verdict by their names.
BY_POSITION = {UnlinkInput, ReviewInput}
# Queries whose fields mean nothing at a terminal.
HTTP_ONLY = {
    "ExportNamespaceQuery", "FileListQuery", "ImportNamespaceQuery", "ImportQuery", "PutFileQuery", "SpanQuery",
    "SweepQuery", "ToolQuery",
}  # fmt: skip


def fields_of(contract):
    """The contract's fields, with the filters in place of the field that holds them."""
    fields = set(contract.__struct_fields__)
    return fields if "filters" not in fields else fields - {"filters"} | set(Filters.__struct_fields__)


@pytest.mark.parametrize("contract", OPTIONS)
def test_every_field_of_a_contract_has_its_option(contract):
    """A field that is added can be given at the terminal too."""
    assert set(OPTIONS[contract]) == fields_of(contract)


@pytest.mark.parametrize("command", COMMANDS_OF)
def test_a_command_takes_its_contract_and_little_else(command):
    """An option without a field would be something that HTTP and tools cannot do."""
    contract, own = COMMANDS_OF[command]
    module, _ = COMMANDS[command]
    assert {parameter.name for parameter in load(module).params} - {"help"} == set(OPTIONS[contract]) | own


def test_every_contract_of_the_command_line_is_in_the_table_above():
    """A verb that is added is compared too."""
    assert {contract for contract, _ in COMMANDS_OF.values()} | BY_POSITION == set(OPTIONS)


def test_every_tool_is_a_command_and_a_route_with_its_very_struct():
    """What an agent can do, a person and a program can do too, in the same words."""
    bodies = {operation.path: operation.body.schema for operation in OPERATIONS if operation.body}
    for tool in TOOLS:
        assert tool.input in OPTIONS, tool.name
        assert bodies[f"/v1/tools/{tool.name}"] is tool.input


def test_every_query_of_http_is_a_command():
    """Lists are filtered and paged alike."""
    queries = {operation.query for operation in OPERATIONS if operation.query}
    assert {query.__name__ for query in queries - set(OPTIONS)} == HTTP_ONLY
