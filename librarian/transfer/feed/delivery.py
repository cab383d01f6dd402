"""One signed delivery to one receiver, at the address that was checked."""

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
    """The receiver's status, and the reason of a failure; None if the delivery succeeded."""

    status: int | None
    error: str | None


class Payload(msgspec.Struct, kw_only=True):
    """The body of a delivery; `timestamp` is the time of its last change."""

    type: str
    timestamp: datetime
    data: object


async def send(settings: WebhookSettings, webhook: Webhook, delivery_id: str, payload: Payload) -> Outcome:
    """Send one signed delivery, ignoring the body of the response. Raises SettingsError without a secret."""
    body = msgspec.json.encode(payload)
    secret = signing.secret_of(settings.secret_file, webhook.namespace, webhook.webhook_id)
    headers = signing.headers(secret, delivery_id, int(datetime.now(UTC).timestamp()), body)
    parts = checked_url(webhook.url, private=True)  # its addresses decide whether it is private
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
    """Return the status of a POST to the first reachable one of `addresses`. Raises OSError."""
    import httpx

    sent = {**headers, "Host": parts.netloc, "Content-Type": "application/json", "User-Agent": "librarian-webhooks"}
    authorities = ssl.create_default_context()  # those of the system
    limits = httpx.Timeout(_TIMEOUT_S, connect=_CONNECT_S)
    named = {"sni_hostname": parts.hostname}  # the name that the certificate must have
    async with httpx.AsyncClient(verify=authorities, trust_env=False, follow_redirects=False, timeout=limits) as client:
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
