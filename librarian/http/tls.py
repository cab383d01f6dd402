"""The service's own TLS: a certificate and its key from files, reloaded when they are renewed."""

import asyncio
import ssl
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from librarian.base.errors import SettingsError

_LOOK_S = 30.0

log = structlog.stdlib.get_logger("librarian.http")


@dataclass(slots=True)
class Certificate:
    """A certificate with its chain, and its private key, as PEM files. Raises SettingsError if they do not match.

    Connections made after a renewal get the new certificate; an unusable renewal changes nothing.
    """

    chain: Path
    key: Path
    context: ssl.SSLContext = field(init=False)
    _read_at: tuple[int, int] = field(init=False, default=(0, 0))

    def __post_init__(self) -> None:
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self._load()

    def offered(self, _config: object, _default: object) -> ssl.SSLContext:
        """Return the context, for uvicorn."""
        return self.context

    async def watch(self) -> None:
        """Reload renewed files periodically, until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_S)
            self.renew()

    def renew(self) -> None:
        """Reload the files if they have changed."""
        try:
            if self._times() != self._read_at:
                self._load()
                log.info("certificate renewed")
        except (SettingsError, OSError) as error:
            log.warning("certificate not renewed", error=str(error))

    def _load(self) -> None:
        try:
            self._read_at = self._times()
            # Loading into a scratch context first keeps the active one intact if the files do not match.
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.chain, self.key, password=_no_password)
            self.context.load_cert_chain(self.chain, self.key, password=_no_password)
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            raise SettingsError(
                f"the certificate {self.chain} and the key {self.key} cannot be used: {_reason(error)}.",
                field="LIBRARIAN_TLS_CERT",
                remedy="Name PEM files of a certificate with its chain and of its key, without a password.",
            ) from None

    def _times(self) -> tuple[int, int]:
        return self.chain.stat().st_mtime_ns, self.key.stat().st_mtime_ns


def _no_password() -> str:
    """Refuse an encrypted key instead of prompting at a terminal."""
    raise ValueError("the key is protected by a password")


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, ssl.SSLError):
        return error.reason or "they are not a certificate and key"
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
