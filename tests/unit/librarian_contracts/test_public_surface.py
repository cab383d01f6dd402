"""What others build on stands in files: whoever changes it sees the difference, and so do its readers.

RENEW=1 .venv/bin/pytest tests/unit/librarian_contracts/test_public_surface.py writes the files anew.
"""

import inspect
import json
import os
from pathlib import Path

import pytest

import librarian
from librarian.cli.lazy import COMMANDS, load
from librarian.contracts.examples import examples_of
from librarian.http.api import OPERATIONS
from librarian.http.openapi import document
from librarian.schemas import inlined_schema
from librarian.tools import TOOLS, described

DOCS = Path(__file__).resolve().parents[3] / "docs"
LIST_BEGIN = "<!-- made from the table of operations: begin -->\n"
LIST_END = "<!-- made from the table of operations: end -->\n"
MADE_BELOW = "<!-- The rest is made from the table of tools. -->\n"


def openapi():
    return as_json(document(OPERATIONS))


def http_operations():
    """The page as it stands, with its list of operations made anew."""
    head, _, rest = (DOCS / "http-api.md").read_text(encoding="utf-8").partition(LIST_BEGIN)
    _, _, tail = rest.partition(LIST_END)
    rows = "".join(
        f"| `{operation.method} {operation.path}` | {operation.scope or 'open'} | {summary_of(operation)} |\n"
        for operation in OPERATIONS
    )
    return f"{head}{LIST_BEGIN}| operation | scope | what |\n|---|---|---|\n{rows}{LIST_END}{tail}"


def summary_of(operation):
    return document([operation])["paths"][operation.path][operation.method.lower()]["summary"]


def tools():
    forms = ("mcp", "openai", "anthropic")
    return as_json({form: [described(tool, form) for tool in TOOLS] for form in forms})


def tool_sections():
    """The page as it stands, with a section made for each tool."""
    head, _, _ = (DOCS / "tools.md").read_text(encoding="utf-8").partition(MADE_BELOW)
    return head + MADE_BELOW + "".join(section(tool) for tool in TOOLS)


def section(tool):
    title, example = next(iter(examples_of(tool.input).items()))
    return (
        f"\n## {tool.name}\n\n{tool.description}\n\nScope `{tool.scope}`.\n\n"
        f"| argument | type | meaning |\n|---|---|---|\n{''.join(field_rows(inlined_schema(tool.input)))}"
        f"\nFor example, {title}:\n\n```json\n{json.dumps(example, ensure_ascii=False, indent=2)}\n```\n"
    )


def field_rows(schema, above=""):
    """A row for each field, those of objects within included."""
    for name, field in schema["properties"].items():
        mark = ", required" if name in schema.get("required", []) else ""
        meaning = field["description"].partition("\n\n")[0].replace("\n", " ")
        yield f"| `{above}{name}` | {type_of(field)}{mark} | {meaning} |\n"
        for inner in field.get("anyOf", []):
            if "properties" in inner:
                yield from field_rows(inner, f"{above}{name}.")


def type_of(schema):
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(type_of(option) for option in schema["anyOf"] if option != {"type": "null"}))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if schema["type"] == "array":
        return f"list of {type_of(schema['items'])}"
    if schema.get("format") == "date-time":
        return "time"
    return {"string": "text"}.get(schema["type"], schema["type"])


def command_line():
    return "".join(
        line
        for name, (module, _) in sorted(COMMANDS.items())
        for line in command_lines(f"librarian {name}", load(module))
    )


def command_lines(path, command):
    """A line for the command with its arguments, one for each option, and the same for the commands below it."""
    below = getattr(command, "commands", {})
    if below:
        return [line for name in sorted(below) for line in command_lines(f"{path} {name}", below[name])]
    placed = [one.metavar or one.name for one in command.params if one.param_type_name == "argument"]
    options = [" ".join(one.opts + one.secondary_opts) for one in command.params if one.param_type_name == "option"]
    return [" ".join([path, *placed]) + "\n", *(f"    {names}\n" for names in sorted(options))]


def python():
    return "".join(line for name in sorted(librarian.__all__) for line in exported(name, getattr(librarian, name)))


def exported(name, value):
    """A line for the name, and one for each public method with its parameters."""
    yield f"{name}\n"
    members = inspect.getmembers(value, inspect.isroutine) if inspect.isclass(value) else []
    for member, method in members:
        if not member.startswith("_"):
            yield f"    {member}({', '.join(inspect.signature(method).parameters)})\n"


def as_json(value):
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


SURFACE = {
    "openapi.json": openapi,
    "http-api.md": http_operations,
    "tools.json": tools,
    "tools.md": tool_sections,
    "cli-surface.txt": command_line,
    "python-surface.txt": python,
}


@pytest.mark.parametrize("name", SURFACE)
def test_the_public_surface_is_what_its_file_says(name):
    """A change of the interface is made on purpose, and its file changes with it."""
    file, now = DOCS / name, SURFACE[name]()
    if os.environ.get("RENEW"):
        file.write_text(now, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == now, f"renew docs/{name}; this module's docstring says how"
