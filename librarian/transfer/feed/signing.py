"""Signatures of webhooks according to Standard Webhooks (https://www.standardwebhooks.com).

A webhook's secret is derived from a file that all replicas share and the webhook's id; it is not stored.
"""

import base64
import hashlib
import hmac
from pathlib import Path

from librarian.base.keys import secret_in

_SETTING = "LIBRARIAN_WEBHOOKS_SECRET_FILE"


def secret_of(path: Path, namespace: str, webhook_id: str) -> bytes:
    """Return the secret of one webhook, derived from that in the file `path`, which is created on first use.

    Raises SettingsError for an unusable file.
    """
    return hmac.digest(secret_in(path, _SETTING), f"webhook\0{namespace}\0{webhook_id}".encode(), hashlib.sha256)


def shown(secret: bytes) -> str:
    """Return a secret in the form given to its receiver."""
    return f"whsec_{base64.b64encode(secret).decode()}"


def headers(secret: bytes, delivery_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the headers with a delivery's id, time and signature."""
    signed = b".".join((delivery_id.encode(), str(timestamp).encode(), body))
    signature = base64.b64encode(hmac.digest(secret, signed, hashlib.sha256)).decode()
    return {
        "webhook-id": delivery_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{signature}",
    }
