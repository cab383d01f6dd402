"""Signatures of webhooks, as Standard Webhooks has them (https://www.standardwebhooks.com).

A webhook's secret is derived from one file that every replica has, and from the webhook's id: it is stored nowhere.
"""

import base64
import hashlib
import hmac
from pathlib import Path

from librarian.base.keys import secret_in

_SETTING = "LIBRARIAN_WEBHOOKS_SECRET_FILE"


def secret_of(path: Path, namespace: str, webhook_id: str) -> bytes:
    """Return the secret of one webhook, derived from that in the file `path`, which is made the first time.

    Raises SettingsError for a file that cannot be used.
    """
    return hmac.digest(secret_in(path, _SETTING), f"webhook\0{namespace}\0{webhook_id}".encode(), hashlib.sha256)


def shown(secret: bytes) -> str:
    """Return a secret as its receiver is told it."""
    return f"whsec_{base64.b64encode(secret).decode()}"


def headers(secret: bytes, delivery_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the headers by which a receiver knows a delivery, when it was sent, and that it is ours."""
    signed = b".".join((delivery_id.encode(), str(timestamp).encode(), body))
    signature = base64.b64encode(hmac.digest(secret, signed, hashlib.sha256)).decode()
    return {
        "webhook-id": delivery_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{signature}",
    }
