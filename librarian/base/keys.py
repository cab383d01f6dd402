"""API keys and the file that holds their digests. The key itself is shown once, on creation."""

import contextlib
import hashlib
import hmac
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from filelock import FileLock
from filelock import Timeout as LockTimeout
from msgspec import Meta, Struct
from msgspec.structs import replace

from graph.local.errors import UNWRITABLE_REMEDY
from librarian.base.errors import Conflict, InvalidInput, KeysFileError, NotFound, SettingsError, Unauthenticated

Scope = Literal["read", "write", "sweep", "agent", "admin"]
KeyState = Literal["valid", "expired", "revoked"]
SCOPES: tuple[Scope, ...] = ("read", "write", "sweep", "agent", "admin")

KeyName = Annotated[str, Meta(min_length=1, max_length=100)]
# A namespace, everything below one ("app:*"), or all ("*").
NamespacePattern = Annotated[str, Meta(max_length=128, pattern=r"^(\*|[\w.:@-]+(:\*)?)\Z")]
Moment = Annotated[datetime, Meta(tz=True)]
Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]


class ApiKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of the key file: `sha256` is the digest of the key, which is stored nowhere."""

    id: str
    name: KeyName
    sha256: Digest
    scopes: Annotated[tuple[Scope, ...], Meta(min_length=1)]
    namespaces: Annotated[tuple[NamespacePattern, ...], Meta(min_length=1)]
    created_at: Moment
    expires_at: Moment | None = None
    revoked: bool = False

    def has_scope(self, scope: Scope) -> bool:
        """Return whether the key has this scope; admin includes all."""
        return scope in self.scopes or "admin" in self.scopes

    def allows(self, namespace: str) -> bool:
        """Return whether the key opens this namespace."""
        return any(
            pattern in ("*", namespace) or (pattern.endswith(":*") and namespace.startswith(pattern[:-1]))
            for pattern in self.namespaces
        )

    def only_namespace(self) -> str | None:
        """Return the namespace of a key bound to exactly one, else None."""
        return None if len(self.namespaces) > 1 or self.namespaces[0].endswith("*") else self.namespaces[0]

    def state_at(self, moment: datetime) -> KeyState:
        """Return whether the key is valid now, or why not."""
        if self.revoked:
            return "revoked"
        return "valid" if self.expires_at is None or moment < self.expires_at else "expired"

    def is_valid_at(self, moment: datetime) -> bool:
        """Return whether the key is valid now."""
        return self.state_at(moment) == "valid"


class KeyFileContent(Struct, frozen=True, forbid_unknown_fields=True):
    """The key file."""

    version: Literal[1] = 1
    keys: tuple[ApiKey, ...] = ()


class KeyOut(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A listed key with its current `state`; `key` appears only in the response that creates it."""

    id: str
    name: str
    scopes: tuple[Scope, ...]
    namespaces: tuple[str, ...]
    created_at: Moment
    expires_at: Moment | None = None
    revoked: bool = False
    state: KeyState
    key: str | None = None

    @classmethod
    def of(cls, key: ApiKey, *, secret: str | None = None) -> "KeyOut":
        """Return the listing entry of `key`."""
        state = key.state_at(datetime.now(UTC))
        fields = {name: getattr(key, name) for name in cls.__struct_fields__ if hasattr(key, name)}
        return msgspec.convert({**fields, "state": state, "key": secret}, cls)


PREFIX = "lib_"
ADMIN_KEY_FILE = "admin.key"
ADMIN_KEY_NAME = "local-admin"
SAMPLE_HEADERS_FILE = "sample.headers"
SAMPLE_KEY_NAME = "sample-reader"
_KEY_BYTES = 32
_ID_BYTES = 5
_LONGEST_TOKEN = 200
_LEAST_SECRET_BYTES = 32
_LOCK_TIMEOUT_S = 15.0
_FILE_MODE = 0o600
_FOLDER_MODE = 0o700

_UNREADABLE = "Correct or remove it, or set LIBRARIAN_KEYS_FILE to another file."
_UNWRITABLE = (
    "Change keys where their file can be written (it may be mounted read-only here), or set LIBRARIAN_KEYS_FILE."
)

_Stamp = tuple[int, int, int]


class KeyFile:
    """The keys of one file, reread whenever it changes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp: _Stamp | None = None
        self._keys: tuple[ApiKey, ...] = ()

    def list(self) -> tuple[ApiKey, ...]:
        """Return all keys, oldest first; none without a file. Raises KeysFileError."""
        stamp = self._current_stamp()
        if stamp != self._stamp:
            self._keys = self._read() if stamp else ()
            self._stamp = stamp
        return self._keys

    def authenticate(self, token: str) -> ApiKey:
        """Return the entry of the key `token`. Raises Unauthenticated for an unknown, revoked or expired key."""
        digest = _digest(token) if token.startswith(PREFIX) and len(token) <= _LONGEST_TOKEN else ""
        # Every entry is compared, so that timing reveals nothing. Without a token the file is not read, so that an
        # unreadable one does not matter.
        matches = [key for key in self.list() if hmac.compare_digest(key.sha256, digest)] if token else []
        if not matches:
            raise Unauthenticated(remedy="Send `Authorization: Bearer <key>`; `librarian keys create` makes a key.")
        if not matches[0].is_valid_at(datetime.now(UTC)):
            raise Unauthenticated("This API key was revoked or has expired.", remedy="Ask the operator for a new one.")
        return matches[0]

    def knows(self, token: str) -> bool:
        """Return whether `token` is or was a key of this file, revoked and expired ones included."""
        digest = _digest(token)
        return any(hmac.compare_digest(key.sha256, digest) for key in self.list())

    def create(
        self, name: str, *, namespaces: Sequence[str], scopes: Sequence[Scope], expires_at: datetime | None = None
    ) -> tuple[ApiKey, str]:
        """Create a key; the second value is the key itself, which is not stored. Raises InvalidInput, KeysFileError."""
        secret = PREFIX + secrets.token_urlsafe(_KEY_BYTES)
        entry = _new_entry(name, secret, scopes, namespaces, expires_at)
        self._update(lambda keys: (*keys, entry))
        return entry, secret

    def rotate(self, key_id: str, *, grace: timedelta = timedelta(0), expires_at: datetime | None = None) -> "Rotated":
        """Replace a key by a new one with its name and rights; the old one stops working at once, or after `grace`.

        The new key expires when the old one did, or at `expires_at`. Raises NotFound, Conflict for a key that is not
        valid, InvalidInput, KeysFileError.
        """
        secret = PREFIX + secrets.token_urlsafe(_KEY_BYTES)

        def change(keys: tuple[ApiKey, ...]) -> tuple[ApiKey, ...]:
            old, now = _by_id(keys, key_id), datetime.now(UTC)
            if not old.is_valid_at(now):
                message = f"The key {old.id} was revoked or has expired."
                raise Conflict(message, remedy="`librarian keys create` makes a new one.")
            new = _new_entry(old.name, secret, old.scopes, old.namespaces, expires_at or old.expires_at)
            end = min(old.expires_at or now + grace, now + grace)
            retired = replace(old, expires_at=end) if grace else replace(old, revoked=True)
            return (*_with(keys, retired), new)

        keys = self._update(change)
        return Rotated(entry=keys[-1], secret=secret, old=_by_id(keys, key_id))

    def revoke(self, key_id: str) -> ApiKey:
        """Revoke a key by its id, permanently. Raises NotFound, KeysFileError."""
        keys = self._update(lambda keys: _with(keys, replace(_by_id(keys, key_id), revoked=True)))
        return _by_id(keys, key_id)

    def _update(self, change: Callable[[tuple[ApiKey, ...]], tuple[ApiKey, ...]]) -> tuple[ApiKey, ...]:
        """Apply `change` to the keys while other processes are locked out."""
        with self._locked():
            keys = change(self._read() if self.path.exists() else ())
            with self._reported(_UNWRITABLE):
                write_private(self.path, msgspec.json.format(msgspec.json.encode(KeyFileContent(keys=keys)), indent=1))
        return keys

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
        """Hold the lock file (the key file itself is replaced, so it cannot carry the lock)."""
        lock = FileLock(self.path.with_name(f"{self.path.name}.lock"), timeout=_LOCK_TIMEOUT_S, mode=_FILE_MODE)
        with self._reported(_UNWRITABLE):
            self.path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    @contextlib.contextmanager
    def _reported(self, remedy: str = _UNREADABLE) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            message = f"{self.path}: {error.strerror or error}"
            raise KeysFileError(message, field="LIBRARIAN_KEYS_FILE", remedy=remedy) from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise KeysFileError(f"{self.path}: {error}", field="LIBRARIAN_KEYS_FILE", remedy=remedy) from None


@dataclass(frozen=True, slots=True)
class Rotated:
    """Result of `rotate`: the new key's entry, the key itself, and the old key's entry as it is now."""

    entry: ApiKey
    secret: str = field(repr=False)
    old: ApiKey


def secret_in(path: Path, setting: str) -> bytes:
    """Return the secret in `path`, created on first use. Raises SettingsError for an unusable file."""
    try:
        if not path.exists():
            _make_secret(path)
        secret = path.read_bytes().strip()
    except (OSError, LockTimeout) as error:
        raise _unusable_secret(f"{path}: {error}", setting) from None
    if len(secret) < _LEAST_SECRET_BYTES:
        raise _unusable_secret(f"{path} holds fewer than {_LEAST_SECRET_BYTES} bytes", setting)
    return secret


def _make_secret(path: Path) -> None:
    """Write a new secret, unless another process was faster."""
    path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
    with FileLock(path.with_name(f"{path.name}.lock"), timeout=_LOCK_TIMEOUT_S, mode=_FILE_MODE):
        if not path.exists():
            write_private(path, secrets.token_urlsafe(48).encode())


def _unusable_secret(message: str, setting: str) -> SettingsError:
    return SettingsError(
        message,
        field=setting,
        remedy=f"Name a file of {_LEAST_SECRET_BYTES} random bytes or more, or a path where the service can make one.",
    )


def ensure_admin_key(keys: KeyFile, home: Path) -> str:
    """Return the admin key of this home's command line; create it on first use.

    It is stored in a file that only the owner of the home can read. If that file is deleted or `keys` does not know the
    key (as after a change of LIBRARIAN_KEYS_FILE), the next start creates a new key and the old one stops working.
    Raises KeysFileError, with nothing created.
    """
    path = home / ADMIN_KEY_FILE
    if path.exists() and keys.knows(secret := read_admin_key(home)):
        return secret
    if not os.access(home, os.W_OK):  # checked first: a key that nobody can read must not be created
        raise KeysFileError(f"{path} cannot be written", field="LIBRARIAN_HOME", remedy=UNWRITABLE_REMEDY)
    secret = _recreated(keys, ADMIN_KEY_NAME, "*", "admin")
    write_private(path, f"{secret}\n".encode())
    return secret


def ensure_sample_headers(keys: KeyFile, home: Path, namespace: str) -> Path:
    """Return a file of request headers that may read `namespace` and nothing else; create it where needed.

    `curl -H @FILE` reads it, which keeps the key out of terminals, logs and process lists. As with the admin key,
    deleting the file creates a new key at the next start. Raises KeysFileError.
    """
    path = home / SAMPLE_HEADERS_FILE
    if path.exists() and keys.knows(path.read_text(encoding="ascii").partition("Bearer ")[2].split("\n")[0]):
        return path
    secret = _recreated(keys, SAMPLE_KEY_NAME, namespace, "read")
    write_private(path, f"Authorization: Bearer {secret}\nLibrarian-Namespace: {namespace}\n".encode())
    return path


def read_admin_key(home: Path) -> str:
    """Return the key created by `ensure_admin_key`. Raises NotFound before the first start of the service."""
    try:
        return (home / ADMIN_KEY_FILE).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        raise NotFound(
            f"{home} has no admin key yet.",
            remedy="The first `librarian serve` makes it; or use `librarian keys create`.",
        ) from None


def renew_admin_key(home: Path, rotated: Rotated) -> bool:
    """Switch this home's command line to the new key if it used the old one; return whether it did."""
    path = home / ADMIN_KEY_FILE
    if not path.exists() or _digest(read_admin_key(home)) != rotated.old.sha256:
        return False
    write_private(path, f"{rotated.secret}\n".encode())
    return True


def write_private(path: Path, data: bytes) -> None:
    """Replace a file atomically by one that only its owner can read."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    scratch.unlink(missing_ok=True)
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


def _new_entry(
    name: str, secret: str, scopes: Sequence[str], namespaces: Sequence[str], expires_at: datetime | None
) -> ApiKey:
    now = datetime.now(UTC)
    if expires_at is not None and expires_at <= now:
        raise InvalidInput(f"a key cannot expire in the past ({expires_at:%Y-%m-%d %H:%M %Z})", field="--expires")
    fields = {
        "id": secrets.token_hex(_ID_BYTES),
        "name": name,
        "sha256": _digest(secret),
        "scopes": tuple(dict.fromkeys(scopes)),
        "namespaces": tuple(dict.fromkeys(namespaces)),
        "created_at": now.replace(microsecond=0),
        "expires_at": expires_at,
    }
    try:
        return msgspec.convert(fields, ApiKey)
    except msgspec.ValidationError as error:
        raise InvalidInput(
            f"the key cannot be made: {error}",
            remedy="Scopes: read, write, sweep, agent, admin. Namespaces: a name, app:* or *.",
        ) from None


def _recreated(keys: KeyFile, name: str, namespace: str, scope: Scope) -> str:
    """Create a key of this name, replacing earlier ones."""
    for old in keys.list():
        if old.name == name and not old.revoked:
            keys.revoke(old.id)
    return keys.create(name, namespaces=[namespace], scopes=[scope])[1]


def _by_id(keys: Sequence[ApiKey], key_id: str) -> ApiKey:
    found = next((key for key in keys if key.id == key_id), None)
    if found is None:
        raise NotFound(f"There is no key with the id {key_id!r}.", remedy="`librarian keys list` shows the ids.")
    return found


def _with(keys: tuple[ApiKey, ...], changed: ApiKey) -> tuple[ApiKey, ...]:
    return tuple(changed if key.id == changed.id else key for key in keys)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
