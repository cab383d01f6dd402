"""The key file: who may call the service.

It lies outside the graph, holds hashes only, and works while the graph is down. Keys are 256 random bits, so a plain
SHA-256 protects them as well as a slow hash would.
"""

import contextlib
import hashlib
import hmac
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
from filelock import FileLock

from librarian.contracts.keys import ApiKey, KeyFileContent, Scope
from librarian.errors import InvalidInput, KeysFileError, NotFound, Unauthenticated

PREFIX = "lib_"
ADMIN_KEY_FILE = "admin.key"
ADMIN_KEY_NAME = "local-admin"
MAX_EXPIRY_DAYS = 36_500

_KEY_BYTES = 32
_ID_BYTES = 5
_LONGEST_TOKEN = 200
_FILE_MODE = 0o600
_FOLDER_MODE = 0o700

_Stamp = tuple[int, int, int]


class KeyFile:
    """The keys of one file, read again whenever it changes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp: _Stamp | None = None
        self._keys: tuple[ApiKey, ...] = ()

    def list(self) -> tuple[ApiKey, ...]:
        """All keys, the oldest first; none where there is no file. Raises KeysFileError."""
        stamp = self._current_stamp()
        if stamp != self._stamp:
            self._keys = self._read() if stamp else ()
            self._stamp = stamp
        return self._keys

    def authenticate(self, token: str) -> ApiKey:
        """The key that `token` is. Raises Unauthenticated for an unknown, revoked or expired one."""
        digest = _digest(token) if token.startswith(PREFIX) and len(token) <= _LONGEST_TOKEN else ""
        # Every entry is compared, whether or not one was found: the time taken tells nothing.
        matches = [key for key in self.list() if hmac.compare_digest(key.sha256, digest)]
        if not matches:
            raise Unauthenticated(remedy="Send `Authorization: Bearer <key>`; `librarian keys create` makes a key.")
        if not matches[0].is_valid_at(datetime.now(UTC)):
            raise Unauthenticated("This API key was revoked or has expired.", remedy="Ask the operator for a new one.")
        return matches[0]

    def create(
        self, name: str, *, namespaces: Sequence[str], scopes: Sequence[Scope], expires_days: int | None = None
    ) -> tuple[ApiKey, str]:
        """Make a key; the second value is the key itself, which is kept nowhere. Raises InvalidInput, KeysFileError."""
        secret = PREFIX + secrets.token_urlsafe(_KEY_BYTES)
        entry = _new_entry(name, secret, namespaces, scopes, expires_days)
        self._update(lambda keys: (*keys, entry))
        return entry, secret

    def revoke(self, key_id: str) -> ApiKey:
        """Make a key, named by its id, useless for ever. Raises NotFound."""
        found = next((key for key in self.list() if key.id == key_id), None)
        if found is None:
            raise NotFound(f"There is no key with the id {key_id!r}.", remedy="`librarian keys list` shows the ids.")
        revoked = msgspec.structs.replace(found, revoked=True)
        self._update(lambda keys: tuple(revoked if key.id == key_id else key for key in keys))
        return revoked

    def _update(self, change: Callable[[tuple[ApiKey, ...]], tuple[ApiKey, ...]]) -> None:
        with self._reported(), self._locked():
            content = KeyFileContent(keys=change(self._read() if self.path.exists() else ()))
            write_private(self.path, msgspec.json.format(msgspec.json.encode(content), indent=1))

    def _read(self) -> tuple[ApiKey, ...]:
        with self._reported():
            return msgspec.json.decode(self.path.read_bytes(), type=KeyFileContent).keys

    def _current_stamp(self) -> _Stamp | None:
        with self._reported():
            try:
                found = self.path.stat()
            except FileNotFoundError:
                return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock beside the file (the file itself is replaced, so it cannot carry one)."""
        self.path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        with FileLock(self.path.with_name(f"{self.path.name}.lock"), mode=_FILE_MODE):
            yield

    @contextlib.contextmanager
    def _reported(self) -> Iterator[None]:
        remedy = "Correct or remove it, or set LIBRARIAN_KEYS_FILE to another file."
        try:
            yield
        except OSError as error:
            raise KeysFileError(f"{self.path}: {error.strerror}", field="LIBRARIAN_KEYS_FILE", remedy=remedy) from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise KeysFileError(f"{self.path}: {error}", field="LIBRARIAN_KEYS_FILE", remedy=remedy) from None


def ensure_admin_key(keys: KeyFile, home: Path) -> str:
    """The key of this home's own command line, which may do everything; made the first time.

    It stands in a file that only the owner of the home can read. Deleting that file makes a new key, and the old one
    useless, at the next start.
    """
    path = home / ADMIN_KEY_FILE
    if path.exists():
        return read_admin_key(home)
    for old in keys.list():
        if old.name == ADMIN_KEY_NAME and not old.revoked:
            keys.revoke(old.id)
    _, secret = keys.create(ADMIN_KEY_NAME, namespaces=["*"], scopes=["admin"])
    write_private(path, f"{secret}\n".encode())
    return secret


def read_admin_key(home: Path) -> str:
    """The key that `ensure_admin_key` made. Raises NotFound before the first start of the service."""
    try:
        return (home / ADMIN_KEY_FILE).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        raise NotFound(
            f"{home} has no admin key yet.",
            remedy="The first `librarian serve` makes it; or use `librarian keys create`.",
        ) from None


def write_private(path: Path, data: bytes) -> None:
    """Replace a file in one step by one that only its owner can read."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    scratch.unlink(missing_ok=True)
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)
    scratch.replace(path)


def _new_entry(
    name: str, secret: str, namespaces: Sequence[str], scopes: Sequence[str], expires_days: int | None
) -> ApiKey:
    now = datetime.now(UTC).replace(microsecond=0)
    if expires_days is not None and not 1 <= expires_days <= MAX_EXPIRY_DAYS:
        raise InvalidInput(f"a key can expire after 1 to {MAX_EXPIRY_DAYS} days, not {expires_days}", field="expires")
    fields = {
        "id": secrets.token_hex(_ID_BYTES),
        "name": name,
        "sha256": _digest(secret),
        "scopes": tuple(dict.fromkeys(scopes)),
        "namespaces": tuple(dict.fromkeys(namespaces)),
        "created_at": now,
        "expires_at": None if expires_days is None else now + timedelta(days=expires_days),
    }
    try:
        return msgspec.convert(fields, ApiKey)
    except msgspec.ValidationError as error:
        raise InvalidInput(
            f"the key cannot be made: {error}",
            remedy="Scopes: read, write, sweep, agent, admin. Namespaces: a name, app:* or *.",
        ) from None


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
