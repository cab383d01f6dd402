"""API keys: what the key file holds, and what is said of a key. The key itself is shown once, when it is made."""

from datetime import UTC, datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

Scope = Literal["read", "write", "sweep", "agent", "admin"]
KeyState = Literal["valid", "expired", "revoked"]
SCOPES: tuple[Scope, ...] = ("read", "write", "sweep", "agent", "admin")

KeyName = Annotated[str, Meta(min_length=1, max_length=100)]
# A namespace, all below one ("app:*"), or all ("*").
NamespacePattern = Annotated[str, Meta(max_length=128, pattern=r"^(\*|[\w.:@-]+(:\*)?)\Z")]
Moment = Annotated[datetime, Meta(tz=True)]
Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]


class ApiKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of the key file: `sha256` is the digest of the key, which is nowhere else."""

    id: str
    name: KeyName
    sha256: Digest
    scopes: Annotated[tuple[Scope, ...], Meta(min_length=1)]
    namespaces: Annotated[tuple[NamespacePattern, ...], Meta(min_length=1)]
    created_at: Moment
    expires_at: Moment | None = None
    revoked: bool = False

    def has_scope(self, scope: Scope) -> bool:
        """Whether the key gives this right; admin gives all."""
        return scope in self.scopes or "admin" in self.scopes

    def allows(self, namespace: str) -> bool:
        """Whether the key opens this namespace."""
        return any(_matches(pattern, namespace) for pattern in self.namespaces)

    def only_namespace(self) -> str | None:
        """The namespace of a key that is bound to exactly one, else None."""
        return None if len(self.namespaces) > 1 or self.namespaces[0].endswith("*") else self.namespaces[0]

    def state_at(self, moment: datetime) -> KeyState:
        """Whether the key can be used at this moment, or why not."""
        if self.revoked:
            return "revoked"
        return "valid" if self.expires_at is None or moment < self.expires_at else "expired"

    def is_valid_at(self, moment: datetime) -> bool:
        """Whether the key can be used at this moment."""
        return self.state_at(moment) == "valid"


class KeyFileContent(Struct, frozen=True, forbid_unknown_fields=True):
    """The key file."""

    version: Literal[1] = 1
    keys: tuple[ApiKey, ...] = ()


class KeyOut(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A key as it is listed, `state` as of now; `key` only in the answer that creates it."""

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
        """What is told of `key`."""
        state = key.state_at(datetime.now(UTC))
        fields = {name: getattr(key, name) for name in cls.__struct_fields__ if hasattr(key, name)}
        return msgspec.convert({**fields, "state": state, "key": secret}, cls)


def _matches(pattern: str, namespace: str) -> bool:
    if pattern == "*":
        return True
    return namespace.startswith(pattern[:-1]) if pattern.endswith(":*") else namespace == pattern
