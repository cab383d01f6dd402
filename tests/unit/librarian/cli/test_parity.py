"""HTTP, tools and command line take the same fields, because they are made from the same structs."""

import pytest

from librarian.agent.contracts import FindEvidenceInput
from librarian.causal.contracts import CausalInput, ContradictionQuery, CycleQuery, NeighbourhoodQuery, PathQuery
from librarian.cli.lazy import COMMANDS, SECTIONS, asks_services, load
from librarian.cli.options import OPTIONS
from librarian.files.contracts import FindFileInput, LocateInput, SearchTextInput, StaleQuery
from librarian.http.api import DOCUMENTED
from librarian.items.contracts import (
    CorrectInput,
    DeleteInput,
    EdgeQuery,
    Filters,
    ForgottenQuery,
    ImpactInput,
    ItemQuery,
    LiftInput,
    LinkInput,
    Moments,
    RememberInput,
    UnlinkInput,
)
from librarian.mcp.tools import TOOLS
from librarian.operations import OPERATIONS
from librarian.search.contracts import (
    AnswerInput,
    ContextInput,
    RelevantInput,
    SearchInput,
    SemanticSearchInput,
    WhyNotInput,
)
from librarian.sweep.contracts import ReviewInput, ReviewManyInput, ReviewQuery, SweepScope
from librarian.transfer.feed.contracts import ChangeQuery, WebhookIn

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
    "context": (ContextInput, {"namespace", "as_json"}),
    "find-file": (FindFileInput, {"namespace", "as_json"}),
    "search-text": (SearchTextInput, {"namespace", "as_json"}),
    "locate": (LocateInput, {"namespace", "as_json"}),
    "stale": (StaleQuery, {"namespace", "as_json"}),
    "get": (Moments, {"uid", "namespace", "as_json"}),
    "impact": (ImpactInput, {"namespace", "as_json"}),
    "list": (ItemQuery, {"namespace", "every", "as_json"}),
    "edges": (EdgeQuery, {"namespace", "every", "as_json"}),
    "changes": (ChangeQuery, {"namespace", "follow", "as_json"}),
    "causes": (CausalInput, {"namespace", "form", "as_json"}),
    "effects": (CausalInput, {"namespace", "form", "as_json"}),
    "blockers": (CausalInput, {"namespace", "form", "as_json"}),
    "enablers": (CausalInput, {"namespace", "form", "as_json"}),
    "graph": (NeighbourhoodQuery, {"namespace", "form", "as_json"}),
    "path": (PathQuery, {"namespace", "as_json"}),
    "contradictions": (ContradictionQuery, {"namespace", "as_json"}),
    "cycles": (CycleQuery, {"namespace", "as_json"}),
    "sweep": (SweepScope, {"namespace", "resume", "apply", "dry_run", "llm", "facts", "json_report", "retention"}),
    "review": (ReviewQuery, {"namespace", "export", "every", "as_json"}),
    "search-agent": (FindEvidenceInput, {"namespace", "trace", "as_json"}),
    "remember": (RememberInput, {"namespace", "no_embed", "as_json"}),
    "correct": (CorrectInput, {"namespace", "no_embed", "as_json"}),
    "forget": (DeleteInput, {"namespace", "yes", "as_json"}),
    "link": (LinkInput, {"namespace", "as_json"}),
}
# `librarian unlink` takes one or three words, `librarian review accept` and `reject` the verdict by their names, and
# `librarian review all`, `forgotten list`, `forgotten lift` and `webhook add` are commands below another one.
BY_POSITION = [UnlinkInput, ReviewInput, ReviewManyInput, ForgottenQuery, LiftInput, WebhookIn]
# Queries whose fields mean nothing at a terminal.
HTTP_ONLY = {
    "DeletionQuery", "ExportNamespaceQuery", "FileListQuery", "ImportNamespaceQuery", "ImportQuery", "IngestQuery",
    "PutFileQuery", "SpanQuery", "SweepQuery", "ToolQuery",
}  # fmt: skip


def fields_of(contract):
    """The contract's fields, with the filters in place of the field that holds them."""
    fields = set(contract.__struct_fields__)
    return fields if "filters" not in fields else fields - {"filters"} | set(Filters.__struct_fields__)


@pytest.mark.parametrize("contract", dict.fromkeys([*(contract for contract, _ in COMMANDS_OF.values()), *BY_POSITION]))
def test_every_field_of_a_contract_has_its_option(contract):
    """A field that is added can be given at the terminal too."""
    assert set(OPTIONS[contract.__name__]) == fields_of(contract)


@pytest.mark.parametrize("command", COMMANDS_OF)
def test_a_command_takes_its_contract_and_little_else(command):
    """An option without a field would be something that HTTP and tools cannot do."""
    contract, own = COMMANDS_OF[command]
    assert {parameter.name for parameter in load(command).params} - {"help"} == set(OPTIONS[contract.__name__]) | own


def test_every_contract_of_the_command_line_is_in_the_table_above():
    """A verb that is added is compared too."""
    contracts = {contract for contract, _ in COMMANDS_OF.values()} | set(BY_POSITION)
    assert {contract.__name__ for contract in contracts} == set(OPTIONS)


@pytest.mark.parametrize(
    "operation", [operation for operation in OPERATIONS if operation.cli], ids=lambda each: each.name
)
def test_every_command_of_an_operation_is_there(operation):
    """Every row of the table can be asked at the terminal, here and of a service."""
    name, _, below = operation.cli.partition(" ")
    command = load(name)
    assert not below or below in command.commands
    assert asks_services(name)


def test_a_command_without_an_operation_asks_no_service():
    """It would work on another graph than the one that --remote names."""
    assert [name for name in SECTIONS["Run"] if asks_services(name)] == []
    assert [name for section in ("Find", "Connect", "Keep and change") for name in SECTIONS[section]] == [
        name for name in COMMANDS if asks_services(name)
    ]


def test_every_tool_is_a_command_and_a_route_with_its_very_struct():
    """An agent can do nothing that a person and a program cannot do too, in the same words."""
    bodies = {operation.path: operation.body.schema for operation in DOCUMENTED if operation.body}
    for tool in TOOLS:
        assert tool.input.__name__ in OPTIONS, tool.name
        assert bodies[f"/v1/tools/{tool.name}"] is tool.input


def test_every_query_of_http_is_a_command():
    """Lists are filtered and paged alike."""
    queries = {operation.query for operation in DOCUMENTED if operation.query}
    assert {query.__name__ for query in queries} - set(OPTIONS) == HTTP_ONLY
