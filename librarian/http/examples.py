"""Examples of requests and answers, for the OpenAPI document and the documentation: `examples.yaml`."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

import yaml

from librarian.items.contracts import ItemIn, RowsIn

# Title -> example.
Examples: TypeAlias = Mapping[str, Any]

_UNIONS = {ItemIn: "ItemIn", RowsIn: "RowsIn"}


@cache
def all_examples() -> Mapping[str, Examples]:
    """Return the examples by contract name, followed by a status where those of an answer differ."""
    text = files("librarian.http").joinpath("examples.yaml").read_text(encoding="utf-8")
    found: Mapping[str, Examples] = yaml.safe_load(text)
    return found


def examples_of(type_: Any, status: int | None = None) -> Examples:
    """Return the examples of a contract; those of its answer with `status` where these differ."""
    name = _UNIONS.get(type_) or type_.__name__
    return all_examples().get(f"{name} {status}") or all_examples().get(name, {})
