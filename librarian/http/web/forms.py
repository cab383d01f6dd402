"""Readers of posted forms and query strings for pages. An empty field counts as not sent."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from librarian.base.errors import InvalidInput, PayloadTooLarge, UnsupportedMediaType
from librarian.base.strictjson import convert
from librarian.http.query import values_of

Q = TypeVar("Q")
Form = dict[str, str]

TOKEN_FIELD = "token"  # noqa: S105 - the name of a field
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
_MOST_BYTES = 64 * 1024
_MOST_UPLOAD_BYTES = 8 * 2**20
_MOST_FIELDS = 50
# Read before the page's own query.
_COMMON = frozenset({"ns", "lang", "said"})


class Upload(NamedTuple):
    """A form that may be long: its fields, and the name and bytes of its file, both empty without one."""

    fields: Form
    filename: str
    content: bytes


async def form_of(request: Request) -> Form:
    """Return the fields of a posted form. Raises UnsupportedMediaType, PayloadTooLarge or InvalidInput."""
    _expect(request, FORM)
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _MOST_BYTES:
            raise PayloadTooLarge(f"The form is larger than {_MOST_BYTES} bytes.")
    try:
        pairs = parse_qsl(body.decode("ascii"), errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise InvalidInput("the form cannot be read") from None
    return _cleaned(pairs)


async def upload_of(request: Request) -> Upload:
    """Return a posted form in parts, with its file. Raises UnsupportedMediaType, PayloadTooLarge or InvalidInput."""
    _expect(request, MULTIPART)
    if int(request.headers.get("content-length", _MOST_UPLOAD_BYTES + 1)) > _MOST_UPLOAD_BYTES:
        raise PayloadTooLarge(
            f"The form is larger than {_MOST_UPLOAD_BYTES} bytes.", remedy="`librarian ingest FILE` takes larger ones."
        )
    parts = request.form(max_files=1, max_fields=_MOST_FIELDS, max_part_size=_MOST_UPLOAD_BYTES)
    try:
        async with parts as form:
            sent = form.multi_items()
            file = next((value for _, value in sent if isinstance(value, UploadFile)), None)
            fields = _cleaned((name, value) for name, value in sent if isinstance(value, str))
            return Upload(fields, (file and file.filename) or "", await file.read() if file else b"")
    except HTTPException:
        raise InvalidInput("the form cannot be read") from None


def _expect(request: Request, type_: str) -> None:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != type_:
        raise UnsupportedMediaType("This page reads forms only.", remedy=f"Send {type_}.")


def _cleaned(pairs: Iterable[tuple[str, str]]) -> Form:
    cleaned = ((name, value.replace("\r\n", "\n").strip()) for name, value in pairs)
    return {name: value for name, value in cleaned if value}


def page_query(request: Request, type_: type[Q] | None) -> Q | None:
    """Return the query string as a struct of `type_`; None if the page takes none. Raises InvalidInput."""
    if type_ is None:
        return None
    sent = request.query_params.multi_items()
    return values_of([(name, value) for name, value in sent if value.strip() and name not in _COMMON], type_)


def struct_of(fields: Mapping[str, Any], type_: type[Q]) -> Q:
    """Return fields of a form as a struct of `type_`. Raises InvalidInput."""
    return convert(fields, type_, strict=False)
