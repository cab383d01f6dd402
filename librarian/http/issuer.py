"""The public keys of an issuer of access tokens, found through its metadata (RFC 8414, OpenID Connect Discovery)."""

import asyncio
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec
import structlog

from librarian.base.errors import NotReady, Unauthenticated
from librarian.base.settings.values import secure_url

if TYPE_CHECKING:
    import httpx
    from jwt import PyJWK

ALGORITHMS = ("RS256", "ES256", "EdDSA")
"""Accepted signature algorithms: asymmetric ones, so that checking a token does not allow making one."""
_FRESH_S = 3600.0
_USABLE_S = 24 * 3600.0
_PAUSE_S = 10.0
_TIMEOUT_S = 5.0
_RETRY_AFTER_S = 10

log = structlog.stdlib.get_logger("librarian.http.issuer")


class _Metadata(msgspec.Struct):
    issuer: str
    jwks_uri: str


class Issuer:
    """Reloads the keys every hour, and when a token names an unknown one; at most every ten seconds.

    While the issuer is unreachable, the loaded keys stay valid for a day.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._keys: Mapping[str, PyJWK] = {}
        self._read_at = self._tried_at = float("-inf")
        self._away = False
        self._reading = asyncio.Lock()

    async def key(self, name: str) -> "PyJWK":
        """Return the key of this name. Raises Unauthenticated for an unknown one, NotReady without the issuer."""
        if name not in self._keys or self._age_s() > _FRESH_S:
            async with self._reading:
                if (
                    name not in self._keys or self._age_s() > _FRESH_S
                ) and time.monotonic() - self._tried_at > _PAUSE_S:
                    await self._read()
        if name in self._keys:
            return self._keys[name]
        if self._away:
            raise NotReady(
                "The issuer of access tokens does not answer; API keys work.",
                phase="unreachable",
                retry_after_s=_RETRY_AFTER_S,
            )
        raise Unauthenticated("The access token was refused: its issuer has no such key.")

    def _age_s(self) -> float:
        return time.monotonic() - self._read_at

    async def _read(self) -> None:
        import httpx
        from jwt import PyJWTError

        self._tried_at = time.monotonic()
        try:
            async with asyncio.timeout(_TIMEOUT_S), httpx.AsyncClient(timeout=_TIMEOUT_S) as client:
                self._keys = await self._fetched(client)
        except (httpx.HTTPError, httpx.InvalidURL, PyJWTError, ValueError, TimeoutError) as error:
            log.warning("the issuer of access tokens is unreachable", reason=type(error).__name__)
            self._away = True
            if self._age_s() > _USABLE_S:
                self._keys = {}
        else:
            self._away, self._read_at = False, time.monotonic()

    async def _fetched(self, client: "httpx.AsyncClient") -> "Mapping[str, PyJWK]":
        from jwt import PyJWKSet

        metadata = await self._metadata(client)
        answer = (await client.get(secure_url(metadata.jwks_uri))).raise_for_status()
        found = PyJWKSet.from_dict(msgspec.json.decode(answer.content, type=dict)).keys
        return {
            key.key_id: key
            for key in found
            if key.key_id and key.algorithm_name in ALGORITHMS and key.public_key_use in (None, "sig")
        }

    async def _metadata(self, client: "httpx.AsyncClient") -> _Metadata:
        """Return the issuer's metadata, which must name it exactly. Raises ValueError, HTTPError."""
        parts = urlsplit(self._url)
        path = parts.path.rstrip("/")
        oauth = parts._replace(path=f"/.well-known/oauth-authorization-server{path}").geturl()
        answer = await client.get(oauth)
        if not answer.is_success:
            openid = parts._replace(path=f"{path}/.well-known/openid-configuration").geturl()
            answer = (await client.get(openid)).raise_for_status()
        metadata = msgspec.json.decode(answer.content, type=_Metadata)
        if metadata.issuer != self._url:
            raise ValueError("the metadata belong to another issuer")
        return metadata
