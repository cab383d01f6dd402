"""A contract's struct from the options of a command."""

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec import Struct

from librarian.cli.options import FILTERS, OPTIONS, Given
from librarian.cli.runtime import finished
from librarian.cli.values import utf8
from librarian.client import ApiError
from librarian.errors import InvalidInput, LibrarianError
from librarian.strictjson import convert

S = TypeVar("S", bound=Struct)

_NAMES_IN_PATH = re.compile(r"\w+")


def takes(contract: type[Struct]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a command's first parameter be a struct of `contract`, which typer sees as the options of its fields."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def flat(**values: Any) -> None:
            fields = {field: values.pop(field) for field in OPTIONS[contract]}
            command(finished(lambda: struct_of(contract, fields)), **values)

        flat.__signature__ = _signature(command, contract)  # type: ignore[attr-defined]  # what inspect looks for
        return flat

    return decorate


def struct_of(contract: type[S], values: Mapping[str, Any]) -> S:
    """The struct of what was given: None, False and [] are what was not. Raises InvalidInput, which names the
    option.
    """
    fields: dict[str, Any] = {}
    for field, how in OPTIONS[contract].items():
        value = values.get(field)
        if value is None or value is False or value == []:
            continue
        of = fields.setdefault("filters", {}) if _is_nested(field, contract) else fields
        of[field] = _read(value, how)
    try:
        return convert(fields, contract)
    except InvalidInput as error:
        named = name_option(error, contract)
        error.remedy = error.remedy or (named.help if named else None)
        raise


def name_option(error: LibrarianError | ApiError, contract: type[Struct]) -> Given | None:
    """Let the error name the option in place of the contract's field, or nothing where it means no single one; how
    that option is given is returned.
    """
    fields = _NAMES_IN_PATH.findall(error.field or "")
    how = next((OPTIONS[contract][field] for field in reversed(fields) if field in OPTIONS[contract]), None)
    error.field = how.name if how else None
    return how


def _read(value: Any, how: Given) -> Any:
    for text in value if how.many else [str(value)]:
        utf8(text, how.name)
    return value if how.read is None else how.read(value, how.name)


def _is_nested(field: str, contract: type[Struct]) -> bool:
    return field in FILTERS and field not in contract.__struct_fields__


def _signature(command: Callable[..., None], contract: type[Struct]) -> inspect.Signature:
    _struct, *own = inspect.signature(command, eval_str=True).parameters.values()
    fields = [
        inspect.Parameter(
            field,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if how.required else False if how.type is bool else None,
            annotation=how.annotation(),
        )
        for field, how in OPTIONS[contract].items()
    ]
    return inspect.Signature([*fields, *(one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own)])
