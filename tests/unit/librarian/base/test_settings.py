import contextlib
import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from librarian.base.errors import SettingsError
from librarian.base.settings.settings import Settings
from librarian.base.settings.values import MASK, Rate, is_loopback

NAMES = [entry.name for entry in Settings.from_env({}).entries]
PRINTABLE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)


def test_defaults_listen_on_loopback_and_manage_a_server():
    settings = Settings.from_env({})
    assert (settings.http.host, settings.http.port, settings.neo4j.uri) == ("127.0.0.1", 8765, None)
    assert settings.keys_file == settings.home / "keys.json"
    assert {entry.source for entry in settings.entries} == {"default"}


def test_every_setting_is_listed_once_with_its_source():
    settings = Settings.from_env({"LIBRARIAN_PORT": "9000", "LIBRARIAN_NAMESPACE": ""})
    sources = {entry.name: entry.source for entry in settings.entries}
    assert len(sources) == len(settings.entries)
    assert sources["LIBRARIAN_PORT"] == "environment"
    assert sources["LIBRARIAN_NAMESPACE"] == "default"


def test_the_command_line_wins_over_the_environment():
    settings = Settings.from_env({"LIBRARIAN_PORT": "9000"}).with_address(None, 9001)
    assert settings.http.port == 9001
    assert ("9001", "option") in {(entry.value, entry.source) for entry in settings.entries}


def test_secrets_never_show(monkeypatch):
    env = {"NEO4J_PASSWORD": "s3cret-pw", "LIBRARIAN_ENCODER_API_KEY": "s3cret-key", "RERANKER_API_KEY": "s3cret-too"}
    settings = Settings.from_env(env)
    everything = repr(settings) + repr(settings.entries) + repr(dataclasses.replace(settings))
    assert settings.neo4j.password == "s3cret-pw"
    assert "s3cret" not in everything
    assert MASK in everything


def test_credentials_inside_addresses_never_show():
    settings = Settings.from_env({"LIBRARIAN_ENCODER": "http:http://user:s3cret@host/v1#model"})
    assert "s3cret" not in repr(settings.entries)
    with pytest.raises(SettingsError) as caught:
        Settings.from_env({"NEO4J_URI": "bolt://neo4j:s3cret@host"})
    assert "s3cret" not in str(caught.value)


def test_a_heap_that_cannot_index_files_is_refused_with_the_reason():
    assert Settings.from_env({"LIBRARIAN_HEAP_MB": "256"}).server.heap_mb == 256
    with pytest.raises(SettingsError, match="from 256 to 1000000: a transaction may use a quarter of the heap"):
        Settings.from_env({"LIBRARIAN_HEAP_MB": "128"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LIBRARIAN_PORT", "70000"),
        ("LIBRARIAN_PORT", "８７６５"),
        ("LIBRARIAN_REQUEST_TIMEOUT_S", "nan"),
        ("LIBRARIAN_REQUEST_TIMEOUT_S", "0"),
        ("LIBRARIAN_MAX_TEXT_CHARS", "2000000"),
        ("LIBRARIAN_RATE_LIMIT", "0/minute"),
        ("LIBRARIAN_RATE_LIMIT", "100 per fortnight"),
        ("LIBRARIAN_LOG_FORMAT", "xml"),
        ("LIBRARIAN_LOG_TEXT", "maybe"),
        ("LIBRARIAN_NAMESPACE", "a b"),
        ("LIBRARIAN_ENCODER", "magic"),
        ("RERANKER_BASE_URL", "localhost:8080"),
        ("RERANKER_ENDPOINT", "both"),
        ("RERANKER_OVERSAMPLE", "0.5"),
        ("RERANKER_TRAFFIC", "1.5"),
        ("NEO4J_URI", "http://host:7474"),
        ("LIBRARIAN_MAVEN_URL", "file:///tmp"),
        ("LIBRARIAN_HEAP_MB", "255"),
        ("LIBRARIAN_HEAP_MB", "1g"),
    ],
)
def test_a_bad_value_names_key_value_and_remedy(name, value):
    with pytest.raises(SettingsError) as caught:
        Settings.from_env({name: value})
    assert name in str(caught.value)
    assert value in str(caught.value)
    assert caught.value.field == name
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("value", "rate"), [("5/second", Rate(5, 1)), ("6000 / Hour", Rate(6000, 3600)), ("OFF", Rate(0, 1))]
)
def test_a_rate_is_a_number_and_a_period_or_off(value, rate):
    settings = Settings.from_env({"LIBRARIAN_RATE_LIMIT": value})
    assert settings.http.rate_limit == rate
    (shown,) = (entry.value for entry in settings.entries if entry.name == "LIBRARIAN_RATE_LIMIT")
    assert Settings.from_env({"LIBRARIAN_RATE_LIMIT": shown}).http.rate_limit == rate


def test_a_misspelt_variable_is_warned_about_and_the_right_one_named():
    settings = Settings.from_env({"LIBRARIAN_PROT": "9000", "LIBRARIAN_PYTHON": "python3", "PATH": "/bin"})
    assert len(settings.warnings) == 1
    assert "LIBRARIAN_PROT" in settings.warnings[0]
    assert "LIBRARIAN_PORT" in settings.warnings[0]


@given(st.dictionaries(st.sampled_from(NAMES), PRINTABLE, max_size=4))
def test_any_environment_gives_settings_or_a_settings_error(env):
    with contextlib.suppress(SettingsError):
        settings = Settings.from_env(env)
        assert 0 <= settings.http.port <= 65535
        assert re.fullmatch(r"[\w.:@-]+", settings.namespace)


def test_loopback_is_recognised_by_address():
    assert all(map(is_loopback, ["127.0.0.1", "127.8.9.1", "::1", "localhost"]))
    assert not any(map(is_loopback, ["0.0.0.0", "::", "192.168.1.4", "example.org", ""]))


def test_a_mounted_password_is_read_without_its_line_end(tmp_path):
    """The variable itself comes first; a file that cannot be read is named, and no password ever shown."""
    mounted = tmp_path / "password"
    mounted.write_text("s3cret pw \n", encoding="utf-8")
    env = {"NEO4J_PASSWORD_FILE": str(mounted)}
    settings = Settings.from_env(env)
    assert settings.neo4j.password == "s3cret pw "
    assert "s3cret" not in repr(settings) + repr(settings.entries)
    assert Settings.from_env({**env, "NEO4J_PASSWORD": "other"}).neo4j.password == "other"
    with pytest.raises(SettingsError) as caught:
        Settings.from_env({"NEO4J_PASSWORD_FILE": str(tmp_path / "gone")})
    assert caught.value.field == "NEO4J_PASSWORD_FILE"
    assert "gone" in str(caught.value)
