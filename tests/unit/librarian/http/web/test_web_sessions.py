"""Cookies of the web page."""

import pytest

from librarian.base.errors import SettingsError
from librarian.base.keys import KeyFile
from librarian.base.settings.settings import Settings
from librarian.cli.serve import _sessions
from librarian.http.web import session
from librarian.http.web.session import Sessions, cookie_secret


@pytest.fixture
def keys(tmp_path):
    return KeyFile(tmp_path / "keys.json")


@pytest.fixture
def key(keys):
    return keys.create("reader", namespaces=["a"], scopes=["read"])[0]


def test_a_session_names_its_key(keys, key):
    """Two logins are two sessions of one key."""
    sessions = Sessions(b"s" * 32)
    first, second = (sessions.read(sessions.begin(key), keys) for _ in range(2))
    assert first is not None
    assert second is not None
    assert (first.key, second.key) == (key, key)
    assert first.id != second.id


def test_replicas_with_one_secret_share_sessions(keys, key):
    """And those with another secret do not."""
    cookie = Sessions(b"s" * 32).begin(key)
    assert Sessions(b"s" * 32).read(cookie, keys) is not None
    assert Sessions(b"t" * 32).read(cookie, keys) is None


def test_a_session_ends(keys, key, monkeypatch):
    """Twelve hours after it began, whatever happens in between."""
    sessions = Sessions(b"s" * 32)
    cookie = sessions.begin(key)
    monkeypatch.setattr(session, "SESSION_S", -1)
    assert sessions.read(cookie, keys) is None


def test_what_is_signed_for_one_use_has_no_other(keys):
    """The cookie of the login form is no session, and a session none of a form."""
    sessions = Sessions(b"s" * 32)
    cookie, visitor = sessions.visit()
    assert sessions.visitor(cookie) == visitor
    assert sessions.read(cookie, keys) is None
    assert sessions.visitor(sessions.token(visitor)) is None


def test_the_secret_is_made_once_and_kept_from_others(tmp_path):
    """The next start, and another process, read the same."""
    path = tmp_path / "home" / "cookie.secret"
    secret = cookie_secret(path)
    assert len(secret) >= 32
    assert cookie_secret(path) == secret
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_secret_that_cannot_be_used_is_named(tmp_path):
    """Too short, or in the way of a folder."""
    short = tmp_path / "short"
    short.write_text("short")
    for path in (short, tmp_path, short / "below"):
        with pytest.raises(SettingsError) as refused:
            cookie_secret(path)
        assert refused.value.field == "LIBRARIAN_COOKIE_SECRET_FILE"


def test_a_home_that_cannot_be_written_has_sessions_all_the_same(tmp_path, capsys):
    """They end with the process, which is said; a file that the operator names must be usable."""
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    settings = Settings.from_env({"LIBRARIAN_HOME": str(blocked)})
    assert isinstance(_sessions(settings), Sessions)
    assert "web page" in capsys.readouterr().err
    named = Settings.from_env({"LIBRARIAN_COOKIE_SECRET_FILE": str(blocked / "secret")})
    with pytest.raises(SettingsError):
        _sessions(named)
