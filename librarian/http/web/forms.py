"""What pages read: posted forms and query strings. A field that was left empty counts as not sent."""

from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from starlette.requests import Request

from librarian.base.errors import InvalidInput, PayloadTooLarge, UnsupportedMediaType
from librarian.base.strictjson import convert
from librarian.http.query import values_of

Q = TypeVar("Q")
Form = dict[str, str]

TOKEN_FIELD = "token"  # noqa: S105 - the name of a field
FORM = "application/x-www-form-urlencoded"
_MOST_BYTES = 64 * 1024
_MOST_FIELDS = 50
# Read before the page's own query.
_COMMON = frozenset({"ns", "lang", "said"})


async def form_of(request: Request) -> Form:
    """Return the fields of a posted form. Raises UnsupportedMediaType, PayloadTooLarge or InvalidInput."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        raise UnsupportedMediaType("This page reads forms only.", remedy=f"Send {FORM}.")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _MOST_BYTES:
            raise PayloadTooLarge(f"The form is larger than {_MOST_BYTES} bytes.")
    try:
        pairs = parse_qsl(body.decode("ascii"), errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise InvalidInput("the form cannot be read") from None
    cleaned = ((name, value.replace("\r\n", "\n").strip()) for name, value in pairs)
    return {name: value for name, value in cleaned if value}


def page_query(request: Request, type_: type[Q] | None) -> Q | None:
    """Return the query string as a struct of `type_`; None where the page takes none. Raises InvalidInput."""
    if type_ is None:
        return None
    sent = request.query_params.multi_items()
    return values_of([(name, value) for name, value in sent if value.strip() and name not in _COMMON], type_)


def struct_of(fields: Mapping[str, Any], type_: type[Q]) -> Q:
    """Return fields of a form as a struct of `type_`. Raises InvalidInput."""
    return convert(fields, type_, strict=False)
