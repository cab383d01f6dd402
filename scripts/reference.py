"""The reference pages and the snapshots of the interface, generated from the program itself.

The pages become part of the built site (scripts/generated.py). tests/unit/librarian/test_public_surface.py compares the
snapshots in `docs/` with the program.
"""

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import typer

import librarian
from librarian.base.schemas import inlined_schema
from librarian.cli.lazy import COMMANDS, SECTIONS, load
from librarian.http.api import DOCUMENTED
from librarian.http.examples import examples_of
from librarian.http.openapi import document
from librarian.mcp.contracts import ToolFormat
from librarian.mcp.tools import TOOLS, OfferedTool, described

LIST_BEGIN = "<!-- made from the table of operations: begin -->\n"
LIST_END = "<!-- made from the table of operations: end -->\n"

# Objects of a snapshot that do not fit on a line are expanded down to this depth: an operation's parameters and
# answers, and a schema's fields, have a line each.
_EXPANDED_DEPTH = 5
_LINE_WIDTH = 100

_Schema = Mapping[str, Any]


def openapi() -> str:
    """docs/openapi.json."""
    return compact_json(document(DOCUMENTED))


def tools_json() -> str:
    """tools.json: the tools in each form."""
    tools = {form: [described(tool, form) for tool in TOOLS] for form in get_args(ToolFormat)}
    return json.dumps(tools, ensure_ascii=False, indent=2) + "\n"


def command_surface() -> str:
    """docs/cli-surface.txt: every command with its options, one per line."""
    return "".join(line for name in sorted(COMMANDS) for line in _command_lines(f"librarian {name}", load(name)))


def python_surface() -> str:
    """docs/python-surface.txt: the package's exports, with the parameters of methods."""
    return "".join(line for name in sorted(librarian.__all__) for line in _exported(name, getattr(librarian, name)))


def http_operations(page: str) -> str:
    """docs/http-api.md with its list of operations regenerated."""
    head, _, rest = page.partition(LIST_BEGIN)
    _, _, tail = rest.partition(LIST_END)
    paths = document(DOCUMENTED)["paths"]
    rows = "".join(
        f"| {_linked(f'{operation.method} {operation.path}')} | {operation.scope or 'open'} "
        f"| {paths[operation.path][operation.method.lower()]['summary']} |\n"
        for operation in DOCUMENTED
    )
    return f"{head}{LIST_BEGIN}| operation | scope | what |\n|---|---|---|\n{rows}{LIST_END}{tail}"


def tools_page() -> str:
    """reference/tools.md."""
    head = "The arguments of each tool, with an example. [tools.md](../tools.md) explains how to call tools.\n"
    return f"# Tools\n\n{head}{''.join(_tool(tool) for tool in TOOLS)}"


def http_page() -> str:
    """reference/http.md: the operations with their input and output objects."""
    whole = document(DOCUMENTED)
    head = (
        "Every operation, followed by every object. [http-api.md](../http-api.md) explains headers, limits and\n"
        "errors; [openapi.json](../openapi.json) is the machine-readable form.\n"
    )
    operations = "".join(
        _operation(method, path, operation)
        for path, methods in whole["paths"].items()
        for method, operation in methods.items()
    )
    objects = "".join(_object(name, schema) for name, schema in sorted(whole["components"]["schemas"].items()))
    return f"# HTTP\n\n{head}\n## Operations\n{operations}\n## Objects\n{objects}"


def cli_page() -> str:
    """reference/cli.md: every command with its arguments and options."""
    head = "Every command with its options. [cli.md](../cli.md) explains them with examples.\n"
    parts = [
        f"\n## {title}\n" if part is None else part
        for title, commands in SECTIONS.items()
        for part in (None, *(section for name in commands for section in _commands(name, load(name))))
    ]
    return f"# Command line\n\n{head}{''.join(parts)}"


def anchor(heading: str) -> str:
    """Return the anchor of a heading, on the site and in other Markdown readers."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def compact_json(value: object) -> str:
    """Return `value` in the format of the snapshots in `docs/`: compact, with independent parts on separate lines."""
    return _compact(value, 0) + "\n"


def _compact(value: object, depth: int) -> str:
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict) or len(line) + depth <= _LINE_WIDTH or depth >= _EXPANDED_DEPTH:
        return line
    margin = " " * depth
    members = (f"{margin} {json.dumps(key)}: {_compact(member, depth + 1)}" for key, member in value.items())
    return "{\n" + ",\n".join(members) + f"\n{margin}}}"


def _linked(operation: str) -> str:
    return f"[`{operation}`](reference/http.md#{anchor(operation)})"


def _tool(tool: OfferedTool) -> str:
    title, example = next(iter(examples_of(tool.input).items()))
    return (
        f"\n## {tool.name}\n\n{tool.description}\n\nScope `{tool.scope}`.\n\n"
        f"| argument | type | meaning |\n|---|---|---|\n{''.join(_field_rows(inlined_schema(tool.input)))}"
        f"\nFor example, {title}:\n\n{_json_block(example, tool.input.__name__)}"
    )


def _field_rows(schema: _Schema, above: str = "") -> Iterator[str]:
    """Yield a row for each field, including nested ones."""
    for name, field in schema["properties"].items():
        kind = _type_and_default(field, required=name in schema.get("required", ()))
        yield f"| `{above}{name}` | {kind} | {_in_a_cell(field['description'])} |\n"
        for inner in field.get("anyOf", []):
            if "properties" in inner:
                yield from _field_rows(inner, f"{above}{name}.")


def _type_of(schema: _Schema) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{anchor(name)})"
    for key in ("anyOf", "oneOf"):
        if key in schema:
            options = (_type_of(option) for option in schema[key] if option != {"type": "null"})
            return " or ".join(dict.fromkeys(options))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    match schema.get("type"):
        case "array":
            return f"list of {_type_of(schema['items'])}" if schema.get("items") else "list"
        case "object":
            return f"object of {_type_of(schema['additionalProperties'])}" if _is_mapping(schema) else "object"
        case "string":
            return "time" if schema.get("format") == "date-time" else "text"
        case None:
            return "any"
        case [*several]:
            return " or ".join({"string": "text"}.get(kind, kind) for kind in several)
        case other:
            return str(other)


def _type_and_default(schema: _Schema, *, required: bool) -> str:
    """Return the type, with whether it is required or its default."""
    default = schema.get("default")
    if required or default in (None, [], {}):
        return _type_of(schema) + (", required" if required else "")
    return f"{_type_of(schema)}, default `{json.dumps(default, ensure_ascii=False)}`"


def _is_mapping(schema: _Schema) -> bool:
    return isinstance(schema.get("additionalProperties"), dict)


def _in_a_cell(description: str) -> str:
    """Return the first paragraph, in one line without cell separators."""
    return description.partition("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def _operation(method: str, path: str, operation: _Schema) -> str:
    """Return a section with the summary, parameters, body and answers of an operation."""
    text = f"{operation['summary']}.\n\n{operation['description']}".strip()
    return f"\n### {method.upper()} {path}\n\n{text}\n{_parameters(operation)}{_body(operation)}{_answers(operation)}"


def _parameters(operation: _Schema) -> str:
    rows = "".join(
        f"| `{entry['name']}` | {entry['in']} | {_type_and_default(entry['schema'], required='required' in entry)} "
        f"| {_in_a_cell(entry.get('description', ''))} |\n"
        for entry in operation["parameters"]
        if "$ref" not in entry
    )
    return f"\n| parameter | in | type | meaning |\n|---|---|---|---|\n{rows}" if rows else ""


def _body(operation: _Schema) -> str:
    """Return the forms of the body, with an example."""
    contents = operation.get("requestBody", {}).get("content", {})
    kinds: dict[str, list[str]] = {}
    for kind, content in contents.items():
        kinds.setdefault(_type_of(content["schema"]) if "schema" in content else "bytes", []).append(f"`{kind}`")
    text = "".join(f"\nBody: {what} as {', '.join(named)}.\n" for what, named in kinds.items())
    return text + "".join(_example(content) for content in list(contents.values())[:1])


def _example(content: _Schema) -> str:
    """Return the first example of a body, which a test of the pages checks against its schema."""
    for title, example in content.get("examples", {}).items():
        name = content["schema"].get("$ref", "").rpartition("/")[2]
        return f"\nFor example, {title}:\n\n{_json_block(example['value'], name)}"
    return ""


def _json_block(value: object, schema: str) -> str:
    named = f' schema="{schema}"' if schema else ""
    return f"```json{named}\n{json.dumps(value, ensure_ascii=False, indent=2)}\n```\n"


def _answers(operation: _Schema) -> str:
    rows = "".join(
        f"| {status} | {_answered(answer)} | {_in_a_cell(answer.get('description', ''))} |\n"
        for status, answer in operation["responses"].items()
        if "$ref" not in answer
    )
    refusals = ", ".join(status for status, answer in operation["responses"].items() if "$ref" in answer)
    return f"\n| status | answer | |\n|---|---|---|\n{rows}" + (f"\nProblems: {refusals}.\n" if refusals else "")


def _answered(answer: _Schema) -> str:
    contents = answer.get("content", {}).values()
    return ", ".join(dict.fromkeys(_type_of(content["schema"]) for content in contents if "schema" in content)) or ""


def _object(name: str, schema: _Schema) -> str:
    about = _in_a_cell(schema.get("description", ""))
    head = f"\n### {name}\n" + (f"\n{about}\n" if about else "")
    if "properties" not in schema:
        return f"{head}\nIs {_type_of(schema)}.\n"
    required = schema.get("required", [])
    rows = "".join(
        f"| `{field}` | {_type_and_default(value, required=field in required)} "
        f"| {_in_a_cell(value.get('description', ''))} |\n"
        for field, value in schema["properties"].items()
    )
    return f"{head}\n| field | type | meaning |\n|---|---|---|\n{rows}" if rows else f"{head}\nHas no fields.\n"


def _commands(path: str, command: Any) -> Iterator[str]:
    """Yield a section for a command, and one for each of its subcommands."""
    below = getattr(command, "commands", {})
    if not below or command.params:
        yield _command(path, command)
    for name in below:
        yield from _commands(f"{path} {name}", below[name])


def _command(path: str, command: Any) -> str:
    """Return the help of a command: the usage, the text, and a row for each argument and option."""
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    options = [
        parameter for parameter in command.params if parameter.param_type_name == "option" and parameter.name != "help"
    ]
    usage = " ".join(["librarian", path, *(parameter.metavar or parameter.name.upper() for parameter in arguments)])
    context = typer.Context(command, info_name=path)
    records = (parameter.get_help_record(context) for parameter in (*arguments, *options))
    rows = "".join(f"| `{_in_a_cell(names)}` | {_in_a_cell(text)} |\n" for names, text in filter(None, records))
    text = inspect.cleandoc(command.help or "")
    table = f"\n| argument, option | meaning |\n|---|---|\n{rows}" if rows else ""
    return f"\n### {path}\n\n`{usage}{' [OPTIONS]' if options else ''}`\n\n{text}\n{table}"


def _command_lines(path: str, command: Any) -> list[str]:
    """Return a line for the command with its arguments, one for each option, and the same for its subcommands."""
    below = getattr(command, "commands", {})
    if below:
        return [line for name in sorted(below) for line in _command_lines(f"{path} {name}", below[name])]
    arguments = [
        parameter.metavar or parameter.name for parameter in command.params if parameter.param_type_name == "argument"
    ]
    options = [
        " ".join(parameter.opts + parameter.secondary_opts)
        for parameter in command.params
        if parameter.param_type_name == "option"
    ]
    return [" ".join([path, *arguments]) + "\n", *(f"    {names}\n" for names in sorted(options))]


def _exported(name: str, value: object) -> Iterator[str]:
    """Yield a line for the name, and one for each public method with its parameters."""
    yield f"{name}\n"
    members = inspect.getmembers(value, inspect.isroutine) if inspect.isclass(value) else []
    for member, method in members:
        if not member.startswith("_"):
            yield f"    {member}({', '.join(inspect.signature(method).parameters)})\n"
