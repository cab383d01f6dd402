"""Writes `librarian/client/signatures.pyi` for type checkers and editors: the signatures of the methods that the
Librarian and its clients get from the table of operations.

Run it as `python -m scripts.verbs`; a test compares the file with its output.
"""

import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args, get_origin, get_type_hints

from librarian.app import Librarian
from librarian.client import AsyncLibrarianClient, LibrarianClient
from librarian.client.verbs import VERBS, Request
from librarian.operations import LOCAL, OPERATIONS

STUB = Path(__file__).resolve().parents[1] / "librarian" / "client" / "signatures.pyi"

_HEAD = "# Made by `python -m scripts.verbs` from librarian/operations.py; a test keeps it so.\n"
_QUALIFIED = re.compile(r"\b((?:[a-z_]\w*\.)+)([A-Z]\w*|datetime\b)")
# `inspect` omits the module of these.
_TYPING = re.compile(r"(?:\b(?=(?:Literal|Optional|Union)\b)|<class '(?=BinaryIO))(\w+)(?:'>)?")


def stub() -> str:
    """Return the module: a class with the methods of each client, and one with those of the Librarian."""
    local = {name: getattr(Librarian, name) for name in (*(row.name for row in OPERATIONS), *LOCAL) if name != "search"}
    body = "\n".join(
        (
            _class("BlockingVerbs", "", {name: getattr(LibrarianClient, name) for name in VERBS}, prefix=""),
            _class("AsyncVerbs", "", {name: getattr(AsyncLibrarianClient, name) for name in VERBS}, prefix="async "),
            _class("FacadeVerbs", "", local, prefix=None),
        )
    )
    names: dict[str, set[str]] = {}
    for module, name in _QUALIFIED.findall(body):
        names.setdefault(module.rstrip("."), set()).add(name)
    imports = "".join(f"from {module} import {', '.join(sorted(names[module]))}\n" for module in sorted(names))
    return _formatted(f"{_HEAD}\n{imports}\n{_QUALIFIED.sub(_last, body)}")


def _last(qualified: re.Match[str]) -> str:
    return qualified[2]


def _class(name: str, base: str, methods: Mapping[str, Callable[..., Any]], prefix: str | None) -> str:
    """Return a class; without `prefix` a method is `async` if its room's is."""
    lines = [
        f"    {_prefix(method) if prefix is None else prefix}def {verb}{_signature(method)}: ...\n"
        for verb, method in methods.items()
    ]
    return f"class {name}{base}:\n{''.join(lines)}"


def _prefix(method: Callable[..., Any]) -> str:
    return "async " if inspect.iscoroutinefunction(inspect.unwrap(method)) else ""


def _signature(method: Callable[..., Any]) -> str:
    """Return the signature with qualified names and without metadata; a default is `...`, as in every stub."""
    signature = inspect.signature(method)
    gives = signature.return_annotation
    given = {name: parameter.annotation for name, parameter in signature.parameters.items() if name != "self"}
    annotations = {**given, "return": get_args(gives)[0] if get_origin(gives) is Request else gives}
    hints = get_type_hints(SimpleNamespace(__annotations__=annotations))
    parameters = [
        parameter.replace(
            annotation=hints.get(name, parameter.empty),
            default=parameter.empty if parameter.default is parameter.empty else ...,
        )
        for name, parameter in signature.parameters.items()
    ]
    text = str(signature.replace(parameters=parameters, return_annotation=hints["return"]))
    return _TYPING.sub(r"typing.\1", text.replace("Ellipsis", "...").replace("NoneType", "None"))


def _formatted(text: str) -> str:
    """Return the text sorted and formatted by ruff."""
    for command in (["check", "--select=F401,I,UP", "--fix", "--quiet"], ["format"]):
        ruff = [str(Path(sys.executable).with_name("ruff")), *command, f"--stdin-filename={STUB}", "-"]
        text = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
