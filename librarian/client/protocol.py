"""What both clients do around a request, without any input or output: where it goes, what an answer means, and whether
to try again.
"""

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
# A service that asks for more patience than this is left to the caller.
LONGEST_PAUSE_S = 10.0
_FIRST_PAUSE_S = 0.25
_BUSY = frozenset({429, 503})
_JSON = "application/json"
_PROBLEM = "application/problem+json"
# What a field of a contract that this client knows and the service does not comes back as.
_UNKNOWN_FIELD = "unknown field"
_OLDER = "Leave it out, or update the service: the one that answers does not know it."


class _Problem(Struct):
    """What this client reads of a problem (RFC 9457)."""

    code: str
    detail: str
    field: str | None = None
    remedy: str | None = None
    request_id: str | None = None


class _Status(Struct):
    """The status in a problem."""

    status: int


def checked_address(url: str | None, *, allow_insecure: bool) -> str:
    """Return the service's address without a slash at its end. Raises SettingsError where a key must not be sent."""
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
    """Trust in the authorities of a PEM file. Raises SettingsError."""
    try:
        return ssl.create_default_context(cafile=authorities)
    except OSError as error:
        raise SettingsError(
            f"{authorities} cannot be used: {error.strerror or 'it is no PEM file'}", field="LIBRARIAN_REMOTE_CA"
        ) from None


def is_local(url: str) -> bool:
    """Return whether the address leads to this machine, so that no proxy must be asked."""
    return is_loopback(urlsplit(url).hostname or "")


def headers_of(request: Request[T], api_key: str | None) -> dict[str, bytes]:
    """Return the headers to send; namespaces are UTF-8."""
    headers = {name: value.encode() for name, value in request.headers.items()}
    return headers if api_key is None else {**headers, "Authorization": f"Bearer {api_key}".encode()}


def outcome_of(request: Request[T], reply: Reply) -> T | ApiError:
    """Return the value that an answer stands for, or the error that it is."""
    is_json = _media_type(reply.headers) == _JSON
    if is_json and (200 <= reply.status < 300 or reply.status in request.answers):
        try:
            return request.read(reply)
        except msgspec.MsgspecError as error:
            return _foreign(reply, f"is none that this client understands: {error}")
    return problem_of(reply)


def pause_s(request: Request[T], error: ApiError, attempt: int) -> float | None:
    """Seconds to wait before attempt `attempt` + 1, or None when there must not be one."""
    if not request.safe or attempt >= ATTEMPTS:
        return None
    if not isinstance(error, ServiceUnreachable) and error.status not in _BUSY:
        return None
    if error.retry_after_s is not None:
        return float(error.retry_after_s) if error.retry_after_s <= LONGEST_PAUSE_S else None
    return _FIRST_PAUSE_S * 2.0 ** (attempt - 1) * random.uniform(0.5, 1.5)  # noqa: S311 - spreads callers, no secret


def unreachable(url: str, error: Exception) -> ServiceUnreachable:
    """No answer came from `url`."""
    why = str(error) or type(error).__name__
    return ServiceUnreachable(f"no answer from {url}: {why}", remedy="Check the address, and that the service runs.")


def problem_of(reply: Reply) -> ApiError:
    """Return the error that an answer stands for."""
    if _media_type(reply.headers) != _PROBLEM:
        return _foreign(reply, "does not come from Librarian")
    try:
        problem = msgspec.json.decode(reply.body, type=_Problem)
    except msgspec.MsgspecError as error:
        return _foreign(reply, f"is none that this client understands: {error}")
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
    """Return the error that an event `error` carries: a problem whose status nothing else tells."""
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
    """Whole seconds; the form with a date is left to the client's own pauses."""
    sent = headers.get("retry-after", "")
    return int(sent) if sent.isascii() and sent.isdecimal() and len(sent) < 7 else None


def _media_type(headers: Mapping[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()
