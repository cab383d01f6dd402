from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from librarian.base.fields import Namespace, Uid
from librarian.base.schemas import inlined_schema, schemas_of


class Inner(Struct):
    """Of two lines,

    each with its own.
    """

    when: datetime | None = None


class Outer(Struct):
    name: Annotated[str, Meta(description="What it is called.")] | None = None
    kind: Literal["a", "b"] = "a"
    inner: Inner | None = None


def test_inlined_schemas_refer_to_nothing():
    """Structs that a struct refers to stand where they are used, described beside `anyOf`."""
    schema = inlined_schema(Outer)
    assert "$" not in str(schema)
    assert schema["properties"]["inner"]["description"] == "Of two lines,\n\neach with its own."
    assert schema["properties"]["inner"]["anyOf"][0]["title"] == "Inner"


def test_what_says_nothing_is_left_out():
    """No default null, no empty list of required fields; texts among fixed values are texts."""
    assert inlined_schema(Outer) == {
        "title": "Outer",
        "type": "object",
        "properties": {
            "name": {"description": "What it is called.", "anyOf": [{"type": "string"}, {"type": "null"}]},
            "kind": {"enum": ["a", "b"], "type": "string", "default": "a"},
            "inner": inlined_schema(Outer)["properties"]["inner"],
        },
    }


def test_patterns_mean_the_same_in_other_languages():
    """No look-ahead and no `\\Z`; letters of other scripts pass where ours let them pass."""
    (uid, namespace), _ = schemas_of([Uid, Namespace])
    assert uid["pattern"] == r"^[^\s\x1c-\x1f\x85/\\\x00-\x1f\x7f]+$"
    assert namespace["pattern"] == r"^[\w\x80-\uffff.:@-]+$"
