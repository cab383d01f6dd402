import errno
import json
import os
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from librarian.base.errors import Conflict, InvalidInput, KeysFileError, NotFound, Unauthenticated
from librarian.base.keys import (
    SCOPES,
    ApiKey,
    KeyFile,
    KeyOut,
    ensure_admin_key,
    ensure_sample_headers,
    read_admin_key,
    renew_admin_key,
)

DAY = timedelta(days=1)
NAMESPACES = st.from_regex(r"[a-z0-9.@:_-]{1,20}", fullmatch=True)


@pytest.fixture
def keys(tmp_path):
    return KeyFile(tmp_path / "home ü" / "keys.json")


def made(keys, *, name="test", namespaces=("a",), scopes=("read",), **more):
    return keys.create(name, namespaces=list(namespaces), scopes=list(scopes), **more)


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


def expire(keys, key_id):
    """Let a key expire, as if a day had passed."""
    content = json.loads(keys.path.read_text())
    next(key for key in content["keys"] if key["id"] == key_id)["expires_at"] = "2020-01-01T00:00:00Z"
    keys.path.write_text(json.dumps(content))


def test_an_expired_key_is_refused(keys):
    made_entry, secret = made(keys, expires_at=datetime.now(UTC) + DAY)
    keys.authenticate(secret)
    assert not made_entry.is_valid_at(datetime.now(UTC) + timedelta(days=1, seconds=1))
    expire(keys, made_entry.id)
    with pytest.raises(Unauthenticated, match="expired"):
        keys.authenticate(secret)


def test_a_rotated_key_is_useless_at_once_and_the_new_one_has_its_rights(keys):
    ends = datetime.now(UTC) + DAY
    old, secret = made(keys, namespaces=("a", "b:*"), scopes=("read", "write"), expires_at=ends)
    other, _ = made(keys)
    rotated = keys.rotate(old.id)
    with pytest.raises(Unauthenticated, match="revoked"):
        keys.authenticate(secret)
    assert keys.authenticate(rotated.secret) == rotated.entry
    assert [key.id for key in keys.list()] == [old.id, other.id, rotated.entry.id]
    assert (rotated.entry.name, rotated.entry.scopes, rotated.entry.namespaces) == (
        old.name,
        old.scopes,
        old.namespaces,
    )
    assert rotated.entry.expires_at == ends
    assert rotated.secret not in repr(rotated)


def test_both_keys_are_valid_until_the_grace_time_is_over(keys):
    old, secret = made(keys)
    rotated = keys.rotate(old.id, grace=DAY)
    assert keys.authenticate(secret) == rotated.old
    assert keys.authenticate(rotated.secret) == rotated.entry
    assert rotated.old.is_valid_at(datetime.now(UTC) + DAY - timedelta(minutes=1))
    assert not rotated.old.is_valid_at(datetime.now(UTC) + DAY)


def test_a_grace_time_makes_no_key_live_longer(keys):
    ends = datetime.now(UTC) + timedelta(hours=1)
    old, _ = made(keys, expires_at=ends)
    rotated = keys.rotate(old.id, grace=DAY, expires_at=ends + 2 * DAY)
    assert (rotated.old.expires_at, rotated.entry.expires_at) == (ends, ends + 2 * DAY)


def test_only_a_valid_key_can_be_rotated(keys):
    revoked, expired = made(keys)[0], made(keys)[0]
    keys.revoke(revoked.id)
    expire(keys, expired.id)
    before = keys.path.read_bytes()
    for key_id, error in ((revoked.id, Conflict), (expired.id, Conflict), ("nobody", NotFound)):
        with pytest.raises(error):
            keys.rotate(key_id)
    assert keys.path.read_bytes() == before


def test_a_listed_key_says_its_state_and_nothing_secret(keys):
    entries = [made(keys)[0] for _ in range(3)]
    keys.revoke(entries[1].id)
    expire(keys, entries[2].id)
    listed = [msgspec.to_builtins(KeyOut.of(key)) for key in keys.list()]
    assert [key["state"] for key in listed] == ["valid", "revoked", "expired"]
    assert not any({"key", "sha256"} & set(key) for key in listed)


def test_the_file_and_its_folder_are_for_the_owner_alone(keys):
    made(keys)
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(keys.path.parent.stat().st_mode) == 0o700


def test_keys_made_at_the_same_time_by_several_processes_are_all_there(keys):
    program = (
        "import sys; from pathlib import Path; from librarian.base.keys import KeyFile\n"
        "for n in range(8): KeyFile(Path(sys.argv[1])).create(f'{sys.argv[2]}-{n}', namespaces=['a'], scopes=['read'])"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, keys.path, name]) for name in "xyz"]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert {key.name for key in keys.list()} == {f"{name}-{n}" for name in "xyz" for n in range(8)}


def test_a_file_that_cannot_be_written_is_one_clear_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(KeysFileError) as caught:
        made(KeyFile(tmp_path / "file" / "keys.json"))
    assert "keys.json" in str(caught.value)
    assert "read-only" in caught.value.remedy


def test_no_admin_key_is_made_that_the_home_cannot_hold(keys, tmp_path, monkeypatch):
    """As where keys are mounted and the home is read-only: each start would leave another key that nobody knows."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(KeysFileError, match=r"admin\.key cannot be written") as caught:
        ensure_admin_key(keys, tmp_path)
    assert "LIBRARIAN_HOME" in caught.value.remedy
    assert keys.list() == ()


def test_a_failed_write_leaves_the_keys_and_no_scrap(keys, monkeypatch):
    _, secret = made(keys)
    before = set(keys.path.parent.iterdir())

    def busy(_self, _target):
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    monkeypatch.setattr(Path, "replace", busy)  # as for a file that is mounted by itself
    with pytest.raises(KeysFileError, match="busy"):
        made(keys)
    assert set(keys.path.parent.iterdir()) == before
    assert keys.authenticate(secret)


def test_without_a_key_no_file_is_read(keys):
    """Whoever sends none is told so, whatever state the file is in."""
    made(keys)
    keys.path.write_text("{", encoding="utf-8")
    with pytest.raises(Unauthenticated):
        keys.authenticate("")


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
        {"expires_at": datetime.now(UTC)},
        {"name": ""},
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


def test_another_key_file_gets_an_admin_key_of_its_own(keys, tmp_path):
    """After a change of LIBRARIAN_KEYS_FILE the home's command line is not locked out; a revoked key stays revoked."""
    home = keys.path.parent
    home.mkdir()
    first = ensure_admin_key(keys, home)
    other = KeyFile(tmp_path / "other.json")
    second = ensure_admin_key(other, home)
    assert other.authenticate(second).has_scope("admin")
    assert read_admin_key(home) == second != first
    other.revoke(other.list()[0].id)
    assert ensure_admin_key(other, home) == second


def test_rotating_the_admin_key_gives_the_home_the_new_one(keys):
    home = keys.path.parent
    home.mkdir()
    ensure_admin_key(keys, home)
    other, _ = made(keys)
    assert not renew_admin_key(home, keys.rotate(other.id))
    rotated = keys.rotate(keys.list()[0].id)
    assert renew_admin_key(home, rotated)
    assert read_admin_key(home) == rotated.secret == ensure_admin_key(keys, home)
    assert stat.S_IMODE((home / "admin.key").stat().st_mode) == 0o600


def test_the_headers_of_the_sample_are_private_and_open_nothing_else(keys, tmp_path):
    """They stay the same between starts; where the key is no longer known, it is replaced."""
    path = ensure_sample_headers(keys, tmp_path, "sample")
    sent = dict(line.split(": ", 1) for line in path.read_text().splitlines())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sent["Librarian-Namespace"] == "sample"
    opened = keys.authenticate(sent["Authorization"].removeprefix("Bearer "))
    assert (opened.scopes, opened.namespaces) == (("read",), ("sample",))
    before = path.read_bytes()
    assert ensure_sample_headers(keys, tmp_path, "sample").read_bytes() == before
    path.unlink()
    assert ensure_sample_headers(keys, tmp_path, "sample").read_bytes() != before
    assert [key.revoked for key in keys.list()] == [True, False]
