"""Who calls, and what they may do: the API key decides on the scope, then on the namespace."""

import structlog
from starlette.requests import Request

from librarian.contracts.keys import ApiKey, Scope
from librarian.errors import Forbidden, InvalidInput, Unauthenticated
from librarian.keys import KeyFile
from librarian.setting_values import namespace

NAMESPACE_HEADER = "Librarian-Namespace"


def namespace_of(request: Request, scope: Scope) -> str:
    """The namespace that this request works in.

    Raises Unauthenticated, Forbidden for a scope or namespace beyond the key, InvalidInput where none is named.
    """
    key = authenticated(request, scope)
    wanted = _named(request) or key.only_namespace()
    if wanted is None:
        raise InvalidInput(
            f"no namespace is named, and the key opens more than one; send the header {NAMESPACE_HEADER}",
            field=NAMESPACE_HEADER,
        )
    if not key.allows(wanted):
        raise Forbidden(f"This API key does not open the namespace {wanted!r}.", field=NAMESPACE_HEADER)
    structlog.contextvars.bind_contextvars(namespace=wanted)
    return wanted


def authenticated(request: Request, scope: Scope) -> ApiKey:
    """The caller's key, which has `scope`. Raises Unauthenticated or Forbidden."""
    keys: KeyFile = request.state.keys
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer":
        raise Unauthenticated(remedy="Send `Authorization: Bearer <key>`; `librarian keys create` makes a key.")
    key = keys.authenticate(token.strip())
    structlog.contextvars.bind_contextvars(caller=key.id)
    if not key.has_scope(scope):
        raise Forbidden(f"This API key lacks the scope {scope!r}.")
    return key


def _named(request: Request) -> str | None:
    """The header's namespace; HTTP carries its UTF-8 bytes as Latin-1."""
    sent = request.headers.get(NAMESPACE_HEADER)
    if sent is None:
        return None
    try:
        return namespace(sent.encode("latin-1").decode("utf-8"))
    except ValueError:
        raise InvalidInput(
            "a namespace is 1 to 128 letters, digits or . : @ _ -, as UTF-8", field=NAMESPACE_HEADER
        ) from None
