import json

import pytest
from openapi_spec_validator import validate

from librarian.base import problems
from librarian.http.api import DOCUMENTED
from librarian.http.app import ROUTES
from librarian.http.openapi import codes, document
from librarian.items.contracts import FactIn, MemoryIn, MessageIn


@pytest.fixture(scope="module")
def described():
    return document(DOCUMENTED)


def operations(described):
    return {
        operation["operationId"]: operation for methods in described["paths"].values() for operation in methods.values()
    }


def resolved(described, value):
    while "$ref" in value:
        *_, kind, name = value["$ref"].split("/")
        value = described["components"][kind][name]
    return value


def test_it_is_openapi_3_1(described):
    """Checked against the specification's own schema; defaults and patterns included."""
    validate(described)


def test_it_describes_all_that_is_served_but_documentation_and_pack(described):
    """A route that is nowhere documented does not exist for its users; the analysts' files are for their Browser."""
    served = {route.path.replace("{path:path}", "{path}") for route in ROUTES}
    assert served - set(described["paths"]) == {"/openapi.json", "/docs", "/docs/{file}", "/browser-pack/{file}"}
    assert len(operations(described)) == len(DOCUMENTED)


def test_every_operation_says_what_it_does_and_what_it_wants(described):
    """A summary of one line, the scope, and a description of each parameter."""
    for name, operation in operations(described).items():
        assert operation["summary"], name
        assert "\n" not in operation["summary"]
        assert "Scope: `" in operation["description"] or "key" in operation["description"], name
        for parameter in operation["parameters"]:
            assert resolved(described, parameter)["description"], (name, parameter)


def test_security_is_that_of_the_table(described):
    """Open operations say so; the others name their scope."""
    reported = {name: operation["security"] for name, operation in operations(described).items()}
    assert {name for name, security in reported.items() if not security} == {"healthz", "readyz", "show_metrics"}
    assert reported["post_items"] == [{"key": ["write"]}]
    assert reported["delete_namespace"] == [{"key": ["admin"]}]


def test_every_error_of_an_operation_stands_among_its_responses(described):
    """With its status as problem+json, also where that status has an answer of another kind."""
    reported = operations(described)
    for endpoint in DOCUMENTED:
        for error in endpoint.errors:
            status = str(problems.RULES[error].status)
            content = resolved(described, reported[endpoint.operation_id]["responses"][status])["content"]
            assert problems.CONTENT_TYPE in content, (endpoint.operation_id, status)
    assert set(reported["post_items"]["responses"]["422"]["content"]) == {"application/json", problems.CONTENT_TYPE}


def test_every_code_of_a_problem_is_known(described):
    """The enum, and a table that says what each one means."""
    code = described["components"]["schemas"]["Problem"]["properties"]["code"]
    assert {rule.code for rule in problems.RULES.values()} | {problems.DEFECT_CODE} <= set(code["enum"])
    assert {"method_not_allowed", "http_error"} <= set(code["enum"])
    for name, meaning in codes().items():
        assert f"| `{name}` | {meaning} |" in code["description"]
        assert meaning


def test_a_patch_takes_every_field_of_the_rows_or_null(described):
    """All but the identity, none required."""
    patch = described["components"]["schemas"]["ItemPatch"]
    fields = {field for row in (MessageIn, FactIn, MemoryIn) for field in row.__struct_fields__}
    assert set(patch["properties"]) == fields - {"uid", "namespace"}
    assert "required" not in patch
    assert all({"type": "null"} in schema["anyOf"] for schema in patch["properties"].values())


def test_queries_are_parameters_of_their_own_types(described):
    """Lists repeat their name; nothing may be null there; limits and defaults are told."""
    parameters = operations(described)["list_items"]["parameters"]
    listing = {parameter["name"]: parameter for parameter in parameters if "name" in parameter}
    assert listing["kinds"]["schema"]["type"] == "array"
    assert listing["limit"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 500, "default": 50}
    assert listing["occurred_from"]["schema"]["format"] == "date-time"
    assert '"null"' not in json.dumps(listing)


def test_items_carry_their_version(described):
    """Where one item is answered there is an ETag; where a version can be demanded there is If-Match."""
    reported = operations(described)
    assert "ETag" in reported["get_item"]["responses"]["200"]["headers"]
    assert {"$ref": "#/components/parameters/If-Match"} in reported["patch_item"]["parameters"]
    assert {"$ref": "#/components/parameters/Idempotency-Key"} in reported["delete_item"]["parameters"]
    assert {"$ref": "#/components/parameters/Idempotency-Key"} not in reported["search"]["parameters"]
