"""One delivery to one receiver: signed, to the very address that was looked at, and what became of it."""

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import SplitResult

import msgspec

from graph.webhooks import Webhook
from librarian.base.settings.settings import WebhookSettings
from librarian.transfer.feed import signing
from librarian.transfer.feed.addresses import AddressRefused, addresses_of, checked_url

_TIMEOUT_S = 15.0
_CONNECT_S = 5.0
_TAKEN = range(200, 300)


class Outcome(NamedTuple):
    """The status that a receiver answered, and in a word why it has not taken what was sent; None where it has."""

    status: int | None
    error: str | None


class Payload(msgspec.Struct, kw_only=True):
    """The body of a delivery; `timestamp` is when the last of what it tells happened."""

    type: str
    timestamp: datetime
    data: object


async def send(settings: WebhookSettings, webhook: Webhook, delivery_id: str, payload: Payload) -> Outcome:
    """Send one delivery, signed; what a receiver answers is not read. Raises SettingsError without a secret."""
    body = msgspec.json.encode(payload)
    secret = signing.secret_of(settings.secret_file, webhook.namespace, webhook.webhook_id)
    headers = signing.headers(secret, delivery_id, int(datetime.now(UTC).timestamp()), body)
    parts = checked_url(webhook.url, private=True)  # what is private is told by its addresses
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            addresses = await addresses_of(parts, private=settings.private)
            status = await _posted(parts, addresses, headers, body)
    except AddressRefused:
        return Outcome(None, "address_refused")
    except TimeoutError:
        return Outcome(None, "timeout")
    except OSError:
        return Outcome(None, "connection")
    return Outcome(status, None if status in _TAKEN else "status")


async def _posted(parts: SplitResult, addresses: Sequence[str], headers: Mapping[str, str], body: bytes) -> int:
    """Return the status of a POST to the first of `addresses` that can be reached. Raises OSError."""
    import httpx

    sent = {**headers, "Host": parts.netloc, "Content-Type": "application/json", "User-Agent": "librarian-webhooks"}
    known = ssl.create_default_context()  # the authorities of the system
    limits = httpx.Timeout(_TIMEOUT_S, connect=_CONNECT_S)
    named = {"sni_hostname": parts.hostname}  # whom the certificate has to name
    async with httpx.AsyncClient(verify=known, trust_env=False, follow_redirects=False, timeout=limits) as client:
        for address in addresses:
            url = _at(parts, address)
            try:
                async with client.stream("POST", url, headers=sent, content=body, extensions=named) as answer:
                    return answer.status_code
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
            except httpx.HTTPError as error:
                raise ConnectionError from error
    raise ConnectionError


def _at(parts: SplitResult, address: str) -> str:
    host = f"[{address}]" if ":" in address else address
    return parts._replace(netloc=host if parts.port is None else f"{host}:{parts.port}").geturl()
