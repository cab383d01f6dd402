import json
import stat
import threading
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from librarian.contracts.keys import SCOPES, ApiKey
from librarian.errors import InvalidInput, KeysFileError, NotFound, Unauthenticated
from librarian.keys import KeyFile, ensure_admin_key, read_admin_key

NAMESPACES = st.from_regex(r"[a-z0-9.@:_-]{1,20}", fullmatch=True)


@pytest.fixture
def keys(tmp_path):
    return KeyFile(tmp_path / "home ü" / "keys.json")


def made(keys, *, namespaces=("a",), scopes=("read",), **more):
    return keys.create("test", namespaces=list(namespaces), scopes=list(scopes), **more)


def entry(*namespaces, **more):
    fields = {"id": "1", "name": "n", "sha256": "0" * 64, "scopes": ("read",), "created_at": datetime.now(UTC), **more}
    return msgspec.convert({**fields, "namespaces": namespaces}, ApiKey)


def test_a_made_key_is_recognised_and_only_its_hash_is_kept(keys):
    made_entry, secret = made(keys)
    assert keys.authenticate(secret) == made_entry
    assert secret.startswith("lib_")
    assert len(secret) == len("lib_") + 43
    assert secret not in keys.path.read_text()


@pytest.mark.parametrize("token", ["", "lib_", "lib_x", "é", "lib_" + "x" * 10_000, "Bearer", "lib_\udc80"])
def test_any_other_token_is_refused(keys, token):
    made(keys)
    with pytest.raises(Unauthenticated):
        keys.authenticate(token)


def test_a_revoked_key_is_refused_at_once_by_a_process_that_knew_it(keys):
    made_entry, secret = made(keys)
    running = KeyFile(keys.path)
    running.authenticate(secret)
    keys.revoke(made_entry.id)
    with pytest.raises(Unauthenticated, match="revoked"):
        running.authenticate(secret)


def test_an_expired_key_is_refused(keys):
    made_entry, secret = made(keys, expires_days=1)
    keys.authenticate(secret)
    assert not made_entry.is_valid_at(datetime.now(UTC) + timedelta(days=1, seconds=1))
    content = json.loads(keys.path.read_text())
    content["keys"][0]["expires_at"] = "2020-01-01T00:00:00Z"
    keys.path.write_text(json.dumps(content))
    with pytest.raises(Unauthenticated, match="expired"):
        keys.authenticate(secret)


def test_the_file_and_its_folder_are_for_the_owner_alone(keys):
    made(keys)
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(keys.path.parent.stat().st_mode) == 0o700


def test_keys_made_at_the_same_time_are_all_there(keys):
    threads = [threading.Thread(target=made, args=(KeyFile(keys.path),)) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({key.id for key in keys.list()}) == 12


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 2}', '{"version": 1, "keys": [{"id": "x"}]}', "\xff"])
def test_a_damaged_file_lets_nobody_in_and_is_not_overwritten(keys, content):
    _, secret = made(keys)
    keys.path.write_bytes(content.encode("latin-1"))
    with pytest.raises(KeysFileError):
        keys.authenticate(secret)
    with pytest.raises(KeysFileError):
        made(keys)
    assert keys.path.read_bytes() == content.encode("latin-1")


def test_a_removed_file_lets_nobody_in(keys):
    _, secret = made(keys)
    keys.authenticate(secret)
    keys.path.unlink()
    with pytest.raises(Unauthenticated):
        keys.authenticate(secret)


@pytest.mark.parametrize(
    "bad",
    [
        {"scopes": ("write", "root")},
        {"scopes": ()},
        {"namespaces": ()},
        {"namespaces": ("a*",)},
        {"namespaces": (":*",)},
        {"namespaces": ("a b",)},
        {"namespaces": ("a\n",)},
        {"expires_days": 0},
    ],
)
def test_a_key_with_impossible_rights_is_not_made(keys, bad):
    with pytest.raises(InvalidInput):
        made(keys, **bad)
    assert keys.list() == ()


def test_revoking_an_unknown_key_says_where_ids_are_listed(keys):
    with pytest.raises(NotFound) as caught:
        keys.revoke("nobody")
    assert "keys list" in caught.value.remedy


@given(NAMESPACES, NAMESPACES)
def test_an_exact_namespace_opens_itself_only(own, other):
    key = entry(own)
    assert key.allows(own)
    assert key.allows(other) is (own == other)
    assert key.only_namespace() == own


@given(NAMESPACES, NAMESPACES)
def test_a_prefix_opens_what_lies_below_it_and_a_star_everything(prefix, name):
    below = entry(f"{prefix}:*")
    assert below.allows(f"{prefix}:{name}")
    assert not below.allows(prefix)
    assert not below.allows(f"x{prefix}:{name}")
    assert below.only_namespace() is None
    assert entry("*").allows(name)


def test_admin_implies_every_scope_and_nothing_else_does():
    assert all(entry("a", scopes=("admin",)).has_scope(scope) for scope in SCOPES)
    assert [scope for scope in SCOPES if entry("a", scopes=("read",)).has_scope(scope)] == ["read"]


def test_the_admin_key_is_made_once_and_a_deleted_one_is_replaced(tmp_path, keys):
    keys.path.parent.mkdir()
    home = keys.path.parent
    with pytest.raises(NotFound):
        read_admin_key(home)
    first = ensure_admin_key(keys, home)
    assert ensure_admin_key(keys, home) == first == read_admin_key(home)
    assert stat.S_IMODE((home / "admin.key").stat().st_mode) == 0o600
    (home / "admin.key").unlink()
    second = ensure_admin_key(keys, home)
    assert keys.authenticate(second).has_scope("sweep")
    with pytest.raises(Unauthenticated):
        keys.authenticate(first)
