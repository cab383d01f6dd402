"""Authentication and authorisation: the API key decides on the scope, then on the namespace."""

from typing import Literal

import structlog
from starlette.requests import Request

from librarian.base.audit import act_as
from librarian.base.errors import Forbidden, InvalidInput, Unauthenticated
from librarian.base.keys import ApiKey, KeyFile, Scope
from librarian.base.settings.values import checked_namespace
from librarian.http.limits import Limits

NAMESPACE_HEADER = "Librarian-Namespace"
Required = Scope | Literal["any"]


def namespace_of(request: Request, key: ApiKey) -> str:
    """Return the namespace of this request: the path's, the header's, or the only one that the key opens.

    Raises Forbidden for a namespace that the key does not open, InvalidInput if none is named.
    """
    wanted = _in_path(request) or _in_header(request) or key.only_namespace()
    if wanted is None:
        raise InvalidInput(
            f"no namespace is named, and the key opens more than one; send the header {NAMESPACE_HEADER}",
            field=NAMESPACE_HEADER,
        )
    if not key.allows(wanted):
        raise Forbidden(f"This API key does not open the namespace {wanted!r}.", field=NAMESPACE_HEADER)
    structlog.contextvars.bind_contextvars(namespace=wanted)
    return wanted


def authenticated(request: Request, scope: Required) -> ApiKey:
    """Return the caller's key after checking its `scope` ("any": none in particular) and rate.

    Raises Unauthenticated, TooManyRequests or Forbidden.
    """
    key = known(request, bearer(request))
    admitted(request, key, scope)
    return key


def bearer(request: Request) -> str:
    """Return the request's bearer token, or an empty text."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def known(request: Request, token: str) -> ApiKey:
    """Return the key of `token`; failures are counted by address. Raises Unauthenticated or TooManyRequests."""
    keys: KeyFile = request.state.keys
    try:
        return keys.authenticate(token)
    except Unauthenticated:
        count_failure(request)
        raise


def count_failure(request: Request) -> None:
    """Count a failed authentication. Raises TooManyRequests."""
    limits: Limits = request.state.limits
    limits.count_failure(request.client.host if request.client else "")


def admitted(request: Request, key: ApiKey, scope: Required) -> None:
    """Make `key` the caller of this request. Raises TooManyRequests, or Forbidden without `scope`."""
    structlog.contextvars.bind_contextvars(caller=key.id)
    act_as(key.id, key.name)
    limits: Limits = request.state.limits
    limits.count_request(key.id)
    if scope != "any" and not key.has_scope(scope):
        raise Forbidden(f"This API key lacks the scope {scope!r}.")


def _in_path(request: Request) -> str | None:
    sent = request.path_params.get("namespace")
    return None if sent is None else _checked(sent, "namespace")


def _in_header(request: Request) -> str | None:
    """Return the header's namespace; HTTP carries its UTF-8 bytes as Latin-1."""
    sent = request.headers.get(NAMESPACE_HEADER)
    if sent is None:
        return None
    try:
        return _checked(sent.encode("latin-1").decode("utf-8"), NAMESPACE_HEADER)
    except UnicodeError:
        return _checked("", NAMESPACE_HEADER)


def _checked(sent: str, field: str) -> str:
    try:
        return checked_namespace(sent)
    except ValueError:
        raise InvalidInput("a namespace is 1 to 128 letters, digits or . : @ _ -, as UTF-8", field=field) from None
