"""Access tokens of an external issuer (OAuth 2.1) at the MCP endpoint, next to API keys.

The service is a protected resource (RFC 9728): it announces its issuer, and checks tokens itself. A token is a JWT
(RFC 9068) that names the issuer and, as audience, this resource (RFC 8707). Its rights are those of an API key: scopes,
and the namespaces listed in one of its claims.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from librarian.base.errors import Forbidden, Unauthenticated
from librarian.base.keys import PREFIX, ApiKey, NamespacePattern, Scope
from librarian.base.settings.settings import OAuthSettings
from librarian.http.auth import admitted, authenticated, bearer, count_failure
from librarian.http.issuer import ALGORITHMS, Issuer
from librarian.http.responses import json_response

WELL_KNOWN = "/.well-known/oauth-protected-resource"
SCOPE_PREFIX = "librarian:"
GRANTABLE: tuple[Scope, ...] = ("read", "write", "sweep", "agent")
"""The scopes that a token may have; administration takes a key."""
_USUAL: tuple[Scope, ...] = ("read", "write")
_LEEWAY_S = 30
_SUBJECT = re.compile(r"[\x21-\x7e]{1,200}")
_REQUIRED = ("iss", "aud", "exp", "sub")


class TokenKey(ApiKey, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The rights of an access token in the form of an API key, which no file holds."""


class Tokens:
    """Admits callers by access tokens of the issuer, and by API keys."""

    def __init__(self, issuer: str, resource: str, claim: str) -> None:
        self._url = issuer
        self._resource = resource
        self._claim = claim
        self._issuer = Issuer(issuer)

    async def authenticated(self, request: Request) -> ApiKey:
        """Return the caller's rights. Raises Unauthenticated, Forbidden, TooManyRequests, and NotReady while the issuer
        is unreachable.
        """
        token = bearer(request)
        if token.count(".") != 2 or token.startswith(PREFIX):
            try:
                return authenticated(request, "any")
            except Unauthenticated as error:
                error.challenge = self.challenge(error="invalid_token" if token else "")
                raise
        try:
            key = self._key(await self._claims(token))
        except Unauthenticated as error:
            count_failure(request)
            error.challenge = self.challenge(error="invalid_token")
            raise
        admitted(request, key, "any")
        return key

    def require(self, key: ApiKey, scope: Scope | None) -> None:
        """Raise Forbidden if `key` is an access token without `scope`."""
        if scope is not None and isinstance(key, TokenKey) and not key.has_scope(scope):
            raise self._insufficient([scope])

    def challenge(self, *, error: str = "", scopes: Iterable[Scope] = _USUAL) -> str:
        """Return WWW-Authenticate: the error, the scopes required, and the address of the resource metadata."""
        parts = urlsplit(self._resource)
        where = parts._replace(path=WELL_KNOWN + parts.path.rstrip("/")).geturl()
        failed = f'error="{error}", ' if error else ""
        return f'Bearer realm="librarian", {failed}scope="{_names(scopes)}", resource_metadata="{where}"'

    def metadata_routes(self) -> list[Route]:
        """Return the paths of this resource's metadata: at the root, and below the path of the resource."""
        path = WELL_KNOWN + urlsplit(self._resource).path.rstrip("/")
        return [
            Route(each, partial(self._show_metadata), methods=["GET"]) for each in dict.fromkeys((WELL_KNOWN, path))
        ]

    async def _show_metadata(self, _request: Request) -> Response:
        """Answer with the metadata of RFC 9728, readable for pages of any origin."""
        metadata = {
            "resource": self._resource,
            "authorization_servers": [self._url],
            "scopes_supported": _names(GRANTABLE).split(),
            "bearer_methods_supported": ["header"],
            "resource_name": "Librarian",
        }
        return json_response(metadata, headers={"Access-Control-Allow-Origin": "*"})

    async def _claims(self, token: str) -> Mapping[str, Any]:
        """Return the claims of a token after checking all of it. Raises Unauthenticated, NotReady."""
        import jwt

        try:
            head = jwt.get_unverified_header(token)
            if head.get("alg") not in ALGORITHMS or not isinstance(head.get("kid"), str):
                raise Unauthenticated("The access token was refused: its algorithm or key is not accepted.")
            key = await self._issuer.key(head["kid"])
            claims: Mapping[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[key.algorithm_name],
                audience=self._resource,
                issuer=self._url,
                leeway=_LEEWAY_S,
                options={"require": list(_REQUIRED)},
            )
        except jwt.PyJWTError as error:
            raise Unauthenticated(f"The access token was refused: {type(error).__name__}.") from None
        if not _SUBJECT.fullmatch(claims["sub"]):
            raise Unauthenticated("The access token was refused: its subject cannot be logged.")
        return claims

    def _key(self, claims: Mapping[str, Any]) -> TokenKey:
        granted = _words(claims.get("scope")) + _words(claims.get("scp"))
        scopes = tuple(scope for scope in GRANTABLE if SCOPE_PREFIX + scope in granted)
        if not scopes:
            raise self._insufficient(_USUAL)
        try:
            namespaces = msgspec.convert(tuple(_words(claims.get(self._claim))), tuple[NamespacePattern, ...])
        except msgspec.ValidationError:
            namespaces = ()
        if not namespaces:
            raise Forbidden(f"The access token's claim {self._claim!r} opens no namespace.")
        return TokenKey(
            id=f"oauth:{claims['sub']}",
            name=claims["sub"][:100],
            sha256="",
            scopes=scopes,
            namespaces=namespaces,
            created_at=datetime.now(UTC),
        )

    def _insufficient(self, scopes: Iterable[Scope]) -> Forbidden:
        error = Forbidden(
            f"The access token lacks a scope: {_names(scopes)}.", remedy="Ask the issuer for a token with this scope."
        )
        error.challenge = self.challenge(error="insufficient_scope", scopes=scopes)
        return error


def tokens_of(settings: OAuthSettings) -> Tokens | None:
    """Return the checker of access tokens; None if no issuer is configured."""
    if settings.issuer is None or settings.audience is None:
        return None
    return Tokens(settings.issuer, settings.audience, settings.namespaces_claim)


def _names(scopes: Iterable[Scope]) -> str:
    return " ".join(SCOPE_PREFIX + scope for scope in scopes)


def _words(claim: Any) -> list[Any]:
    """Return a claim, given as a list or as space-separated words, as a list."""
    if isinstance(claim, str):
        return claim.split()
    return claim if isinstance(claim, list) else []
