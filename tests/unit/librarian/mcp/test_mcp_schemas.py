"""Output schemas in the form that clients check quickly allow what the contracts' schemas allow."""

import jsonschema
import pytest

from librarian.base.schemas import inlined_schema
from librarian.mcp.schemas import quickly_checked
from librarian.mcp.tools import TOOLS

HIT = {"uid": "u", "content": "c", "similarity_score": 0.5, "score": 1.0}
MEMORY = {**HIT, "kind": "memory", "type": None, "importance": 3, "agent": None, "occurred_at": None}
CHUNK = {**HIT, "kind": "file_chunk", "path": "a.py", "start_line": 1, "end_line": 2}
ANSWER = {"queries": ["q"], "threshold": None, "iterations": 0, "arms": {}, "reranked": False, "notes": []}


def outputs():
    return {tool.name: inlined_schema(tool.output) for tool in TOOLS}


def agree(schema, value):
    """Return the schema's verdict on a value, in both forms."""
    verdicts = {jsonschema.Draft202012Validator(entry).is_valid(value) for entry in (schema, quickly_checked(schema))}
    assert len(verdicts) == 1, value
    return verdicts.pop()


@pytest.mark.parametrize("tool", [tool.name for tool in TOOLS])
def test_it_is_a_schema_of_an_object(tool):
    schema = quickly_checked(outputs()[tool])
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"


def altered(value):
    """The value with each of its parts left out, made null, a text, a list, or another kind."""
    for name in value:
        yield {key: entry for key, entry in value.items() if key != name}
        for other in (None, "memory", 7, -1, [], {}, "nonsense"):
            yield {**value, name: other}


@pytest.mark.parametrize("hit", [MEMORY, CHUNK], ids=lambda hit: hit["kind"])
def test_hits_are_judged_alike(hit):
    """Whole ones are valid; whatever is changed about them is judged alike."""
    schema = outputs()["search_all"]
    assert agree(schema, {**ANSWER, "results": [hit]})
    judged = [agree(schema, {**ANSWER, "results": [changed]}) for changed in altered(hit)]
    assert True in judged
    assert False in judged


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"anyOf": [{"type": "string", "minLength": 2}, {"type": "null"}]}, ["ab", None], ["a", 1]),
        ({"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]}, ["a", None], ["b", 1]),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, ["a", 1], [None, []]),
        ({"anyOf": [{"const": 1, "type": "integer"}, {"type": "null"}]}, [1, None], [2, "a"]),
        ({"anyOf": [{"type": "object", "properties": {}}, {"type": "object", "properties": {}}]}, [{}], [1]),
    ],
)
def test_choices_stay_what_they_are(schema, good, bad):
    assert all(agree(schema, value) for value in good)
    assert not any(agree(schema, value) for value in bad)


def test_no_hit_is_tried_as_every_kind():
    """That would take longer than finding it."""
    items = quickly_checked(outputs()["search_all"])["properties"]["results"]["items"]
    kinds = []
    while "if" in items:
        kinds.append(items["if"]["properties"]["kind"]["const"])
        assert items["then"]["properties"]["kind"]["enum"] == kinds[-1:]
        items = items["else"]
    assert [*kinds, *items["properties"]["kind"]["enum"]] == ["fact", "message", "memory", "file_chunk"]
