"""The tools as their readers document what they take: the Model Context Protocol, OpenAI, Anthropic."""

import io
import json
import re
import zipfile

import pytest
from jsonschema import Draft202012Validator

from librarian.base.errors import InvalidInput
from librarian.cli.mcp import connection
from librarian.http.examples import examples_of
from librarian.mcp.bundle import bundle_of
from librarian.mcp.tools import TOOLS, TOOLSETS, chosen_tools, described, tools_for

FORMS = {"mcp": "inputSchema", "anthropic": "input_schema", "openai": "parameters"}
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
MAX_DESCRIPTION = 1024
# A root of these is refused by vendors; inside they are fine.
NOT_AT_THE_ROOT = {"anyOf", "oneOf", "allOf", "enum", "not", "$ref", "$defs"}

every_tool = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


def inside(schema):
    """Every schema within `schema`, itself included."""
    if isinstance(schema, dict):
        yield schema
    for inner in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from inside(inner)


def declared(tool, form):
    reported = described(tool, form)
    return reported["function"] if form == "openai" else reported


@every_tool
@pytest.mark.parametrize("form", FORMS)
def test_every_reader_s_rules_are_kept(tool, form):
    """Name, description, an object at the root, nothing that refers to elsewhere, valid JSON Schema 2020-12."""
    reported = declared(tool, form)
    schema = reported[FORMS[form]]
    assert NAME.fullmatch(reported["name"])
    assert 20 <= len(reported["description"]) <= MAX_DESCRIPTION
    Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert NOT_AT_THE_ROOT & set(schema) == set()
    assert all("$ref" not in part and "$defs" not in part and "discriminator" not in part for part in inside(schema))


@every_tool
def test_every_property_is_described(tool):
    """A language model reads nothing else."""
    for schema in inside(declared(tool, "mcp")["inputSchema"]):
        for name, field in schema.get("properties", {}).items() if schema.get("type") == "object" else ():
            assert field.get("description"), name
            assert PROPERTY.fullmatch(name)


@every_tool
def test_unknown_arguments_are_refused(tool):
    """In the schema as in the service, at every depth where fields are named."""
    for schema in inside(declared(tool, "mcp")["inputSchema"]):
        if "properties" in schema and schema.get("type") == "object":
            assert schema["additionalProperties"] is False


@every_tool
def test_the_examples_fit_the_schemas(tool):
    """The validators of readers let through what the service takes and answers."""
    reported = declared(tool, "mcp")
    assert examples_of(tool.input)
    for type_, schema in ((tool.input, reported["inputSchema"]), (tool.output, reported["outputSchema"])):
        for example in examples_of(type_).values():
            Draft202012Validator(schema).validate(example)


def test_the_shape_around_the_schema_is_the_reader_s():
    """Each format's own keys, no others."""
    assert set(described(TOOLS[0], "mcp")) == {"name", "description", "inputSchema", "outputSchema"}
    assert set(described(TOOLS[0], "anthropic")) == {"name", "description", "input_schema"}
    openai = described(TOOLS[0], "openai")
    assert (openai["type"], set(openai["function"])) == ("function", {"name", "description", "parameters"})


def test_names_are_unique():
    """One name, one tool."""
    assert len({tool.name for tool in TOOLS}) == len(TOOLS)


def test_every_tool_is_in_one_toolset():
    """Who names all toolsets is offered everything."""
    assert sorted(name for names in TOOLSETS.values() for name in names) == sorted(tool.name for tool in TOOLS)
    assert chosen_tools(", ".join(TOOLSETS)) == {tool.name for tool in TOOLS}


def test_chosen_toolsets_leave_the_rights_of_a_key_as_they_are():
    """A key that may only read is offered no tool that writes, whatever it names."""
    reader = connection("app:ada", read_only=True)
    assert [tool.name for tool in tools_for(reader, chosen_tools("keep"))] == ["impact"]
    with pytest.raises(InvalidInput, match="no toolset 'keeps'"):
        chosen_tools("search,keeps")


def test_a_bundle_starts_the_program_of_this_machine():
    """Its manifest names what the format wants, the command with its arguments, and the tools that are offered."""
    server = {"command": "/opt/my tools/librarian", "args": ["mcp", "--namespace", "app:ada"]}
    offered = tools_for(connection("app:ada", read_only=False), chosen_tools("keep"))
    with zipfile.ZipFile(io.BytesIO(bundle_of(server, offered))) as bundle:
        manifest = json.loads(bundle.read("manifest.json"))
        launcher = bundle.read(manifest["server"]["entry_point"]).decode()
    assert manifest.keys() >= {"manifest_version", "name", "version", "description", "author", "server"}
    assert manifest["server"]["mcp_config"] == {**server, "env": {}}
    assert [tool["name"] for tool in manifest["tools"]] == ["forget", "correct", "impact", "remember"]
    assert launcher == "#!/bin/sh\nexec '/opt/my tools/librarian' mcp --namespace app:ada\n"
