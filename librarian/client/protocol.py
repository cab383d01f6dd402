"""The protocol of both clients, without any I/O: the address, the meaning of answers, and retries."""

import random
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from librarian.base.errors import SettingsError
from librarian.base.settings.values import is_loopback
from librarian.client.errors import ApiError, ServiceUnreachable
from librarian.client.verbs import Reply, Request

T = TypeVar("T")

ATTEMPTS = 4
# A longer Retry-After is left to the caller.
LONGEST_PAUSE_S = 10.0
_FIRST_PAUSE_S = 0.25
_BUSY = frozenset({429, 503})
_JSON = "application/json"
_PROBLEM = "application/problem+json"
# The fault that an older service reports for a field that only this client knows.
_UNKNOWN_FIELD = "unknown field"
_OLDER = "Leave it out, or update the service: it does not know this field."


class _Problem(Struct):
    """The members of a problem (RFC 9457) that this client reads."""

    code: str
    detail: str
    field: str | None = None
    remedy: str | None = None
    request_id: str | None = None


class _Status(Struct):
    """The status of a problem."""

    status: int


def checked_address(url: str | None, *, allow_insecure: bool) -> str:
    """Return the service's address without a trailing slash. Raises SettingsError if a key must not be sent there."""
    if url is None:
        raise SettingsError(
            "no service is named", field="LIBRARIAN_REMOTE", remedy="Give the address, or set LIBRARIAN_REMOTE."
        )
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise SettingsError(
            "the address of the service must look like https://host:port, without a user or query",
            field="LIBRARIAN_REMOTE",
        )
    if parts.scheme == "http" and not allow_insecure and not is_loopback(parts.hostname):
        raise SettingsError(
            f"keys and memories would travel to {parts.hostname} unencrypted",
            field="LIBRARIAN_REMOTE",
            remedy="Use https, or allow it by LIBRARIAN_ALLOW_INSECURE_REMOTE=1.",
        )
    return url.rstrip("/")


def trusting(authorities: Path) -> ssl.SSLContext:
    """Return a TLS context that trusts the authorities of a PEM file. Raises SettingsError."""
    try:
        return ssl.create_default_context(cafile=authorities)
    except OSError as error:
        raise SettingsError(
            f"{authorities} cannot be used: {error.strerror or 'it is not a PEM file'}", field="LIBRARIAN_REMOTE_CA"
        ) from None


def is_local(url: str) -> bool:
    """Return whether the address leads to this machine, so that no proxy may be used."""
    return is_loopback(urlsplit(url).hostname or "")


def headers_of(request: Request[T], api_key: str | None) -> dict[str, bytes]:
    """Return the headers to send; namespaces are encoded as UTF-8."""
    headers = {name: value.encode() for name, value in request.headers.items()}
    return headers if api_key is None else {**headers, "Authorization": f"Bearer {api_key}".encode()}


def outcome_of(request: Request[T], reply: Reply) -> T | ApiError:
    """Return the value of an answer, or its error."""
    is_json = _media_type(reply.headers) == _JSON
    if is_json and (200 <= reply.status < 300 or reply.status in request.answers):
        try:
            return request.read(reply)
        except msgspec.MsgspecError as error:
            return _foreign(reply, f"cannot be read by this client: {error}")
    return problem_of(reply)


def pause_s(request: Request[T], error: ApiError, attempt: int) -> float | None:
    """Return the seconds to wait before attempt `attempt` + 1, or None if there must not be one."""
    if not request.safe or attempt >= ATTEMPTS:
        return None
    if not isinstance(error, ServiceUnreachable) and error.status not in _BUSY:
        return None
    if error.retry_after_s is not None:
        return float(error.retry_after_s) if error.retry_after_s <= LONGEST_PAUSE_S else None
    return _FIRST_PAUSE_S * 2.0 ** (attempt - 1) * random.uniform(0.5, 1.5)  # noqa: S311 - spreads callers, no secret


def unreachable(url: str, error: Exception) -> ServiceUnreachable:
    """Return the error for a missing answer from `url`."""
    why = str(error) or type(error).__name__
    return ServiceUnreachable(f"no answer from {url}: {why}", remedy="Check the address, and that the service runs.")


def problem_of(reply: Reply) -> ApiError:
    """Return the error of an answer."""
    if _media_type(reply.headers) != _PROBLEM:
        return _foreign(reply, "does not come from Librarian")
    try:
        problem = msgspec.json.decode(reply.body, type=_Problem)
    except msgspec.MsgspecError as error:
        return _foreign(reply, f"cannot be read by this client: {error}")
    return ApiError(
        reply.status,
        problem.code,
        problem.detail,
        field=problem.field,
        remedy=problem.remedy or (_OLDER if _UNKNOWN_FIELD in problem.detail else None),
        request_id=problem.request_id,
        retry_after_s=_retry_after_s(reply.headers),
    )


def problem_in(data: bytes) -> ApiError:
    """Return the error of an event `error`: a problem whose status is only in its body."""
    status = msgspec.json.decode(data, type=_Status).status
    return problem_of(Reply(status, {"content-type": _PROBLEM}, data))


def _foreign(reply: Reply, why: str) -> ApiError:
    return ApiError(
        reply.status,
        "unknown_answer",
        f"the answer with status {reply.status} {why}",
        remedy="Check the address.",
        retry_after_s=_retry_after_s(reply.headers),
    )


def _retry_after_s(headers: Mapping[str, str]) -> int | None:
    """Read whole seconds; for the date form the client uses its own pauses."""
    sent = headers.get("retry-after", "")
    return int(sent) if sent.isascii() and sent.isdecimal() and len(sent) < 7 else None


def _media_type(headers: Mapping[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()
