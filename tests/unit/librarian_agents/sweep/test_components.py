import pytest

from librarian_agents.sweep.components import MAX_NAMES, components, specs


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Component: search, fast", ["search"]),
        ("**component:** `auth`", ["auth"]),
        ("Restart the billing service and the `ingest` worker.", ["billing", "ingest"]),
        ("See agents/chat.py and graph/local/java.py.", ["agents", "graph"]),
        ("Run tests/unit/test_x.py, docs/a.md, src/main.rs.", []),
        ("the same service, the new module", []),
        ("https://example.org/agents/chat.py", []),
        ("Auth, the auth service, the AUTH module", ["auth"]),
        ("", []),
    ],
)
def test_components_are_what_a_text_names_as_such(text, names):
    assert components(text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("spec: 004-sweep", ["004-sweep"]),
        ("As ADR-12 and RFC 9457 say (RFC 9457).", ["ADR-12", "RFC 9457"]),
        ("See specs/003-search/plan.md", ["003-search"]),
        ("an ADR, an RFC", []),
    ],
)
def test_specifications_are_numbered_documents_and_files(text, names):
    assert specs(text) == names


def test_there_are_never_many():
    text = " ".join(f"the x{number}y service" for number in range(20))
    assert len(components(text)) == MAX_NAMES
