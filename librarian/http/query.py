"""Reads the query string as a struct: repeated names are lists, texts are converted to the field's type."""

from collections.abc import Iterable
from typing import TypeVar

import msgspec
from starlette.requests import Request

from librarian.base.errors import InvalidInput
from librarian.base.strictjson import convert

T = TypeVar("T")


def query_of(request: Request, type_: type[T] | None) -> T | None:
    """Return the query string as a struct of `type_`; None if the operation takes none. Raises InvalidInput."""
    sent = request.query_params.multi_items()
    if type_ is None:
        if sent:
            raise InvalidInput("this operation takes no query parameters", field=sent[0][0][:100])
        return None
    return values_of(sent, type_)


def values_of(sent: Iterable[tuple[str, str]], type_: type[T]) -> T:
    """Return names and values, in the order sent, as a struct of `type_`. Raises InvalidInput."""
    lists = _list_fields(type_)
    values: dict[str, object] = {}
    for name, value in sent:
        if name in lists:
            values.setdefault(name, [])
            values[name].append(value)  # type: ignore[attr-defined]  # a list since the line above
        elif name in values:
            raise InvalidInput("it is given twice", field=name, remedy="Give it once.")
        else:
            values[name] = value
    try:
        return convert(values, type_, strict=False)
    except InvalidInput as error:
        error.field = (error.field or "").removeprefix("$.") or None
        raise


def _list_fields(type_: type[object]) -> frozenset[str]:
    """Return names of the fields that hold lists."""
    described = msgspec.inspect.type_info(type_)
    fields = described.fields if isinstance(described, msgspec.inspect.StructType) else ()
    return frozenset(field.encode_name for field in fields if _holds_list(field.type))


def _holds_list(type_: msgspec.inspect.Type) -> bool:
    if isinstance(type_, msgspec.inspect.Metadata):
        return _holds_list(type_.type)
    if isinstance(type_, msgspec.inspect.UnionType):
        return any(_holds_list(option) for option in type_.types)
    return isinstance(type_, msgspec.inspect.ListType)
