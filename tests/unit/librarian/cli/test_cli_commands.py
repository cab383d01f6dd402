"""The command line as a user calls it, as far as it works without a graph: in this process, and where a process of its
own matters as the installed program.
"""

import contextvars
import json
import logging
import os
import re
import socket
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import structlog
from typer.testing import CliRunner

from graph.local.server import ManagedServer
from librarian.cli import app
from librarian.cli.ingest import AUTO, FORMATS
from librarian.cli.lazy import COMMANDS, load
from librarian.items.importers import registry

LIBRARIAN = Path(sys.executable).with_name("librarian")
DRIVERS_AND_MODELS = {"neo4j", "neomodel", "numpy", "onnxruntime", "langgraph", "mcp", "openai"}
HEAVY = DRIVERS_AND_MODELS | {"rich", "starlette", "uvicorn", "structlog", "httpx", "sudachipy", "librarian.operations"}


@pytest.fixture
def variables(tmp_path):
    """The environment of a program that knows nothing but its home; None removes a variable."""
    ours = {name: None for name in os.environ if name.startswith(("LIBRARIAN_", "NEO4J_"))}
    return {**ours, "LIBRARIAN_HOME": str(tmp_path / "home")}


@pytest.fixture
def cli(variables, tmp_path, monkeypatch, unconfigured_logs):
    """Runs the command line in this process, with a context of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*args, **env):
        done = contextvars.copy_context().run(
            CliRunner().invoke, app, args, env={**variables, **env}, catch_exceptions=False
        )
        return SimpleNamespace(returncode=done.exit_code, stdout=done.stdout, stderr=done.stderr)

    return run


@pytest.fixture
def unconfigured_logs():
    """Takes back what a command sets up for its process."""
    root, configured, config = logging.getLogger(), structlog.is_configured(), structlog.get_config()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    if configured:
        structlog.configure(**config)
    else:
        structlog.reset_defaults()


@pytest.fixture
def program(variables, tmp_path):
    """Runs the installed command line as a process."""

    def run(*args, **env):
        given = {name: value for name, value in {**os.environ, **variables, **env}.items() if value is not None}
        return subprocess.run([LIBRARIAN, *args], env=given, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


def assert_error(done, code, *words):
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    for word in words:
        assert word in done.stderr


def test_no_help_loads_anything_heavy():
    """Neither the top level's, which is a table, nor any command's, which all are built here."""
    code = (
        "import sys, librarian.cli; assert 'msgspec' not in sys.modules\n"
        "from librarian.cli.lazy import COMMANDS, load\n"
        "for name in COMMANDS: load(name)\n"
        "print(' '.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert HEAVY & set(done.stdout.split()) == set()


def test_the_top_help_lists_every_command(cli):
    done = cli("--help")
    assert done.returncode == 0
    assert all(re.search(rf"^  {name}\s", done.stdout, re.MULTILINE) for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_says_what_the_command_says(name):
    assert load(name).help.splitlines()[0] == COMMANDS[name][1]


def test_the_help_of_ingest_names_every_format():
    assert (tuple(sorted(registry.FORMATS)), registry.AUTO) == (FORMATS, AUTO)


@pytest.mark.parametrize("name", [name for name in COMMANDS if getattr(load(name), "no_args_is_help", False)])
def test_a_group_alone_shows_its_help(cli, name):
    done = cli(name)
    assert "Usage:" in done.stdout + done.stderr


def test_an_unknown_command_gets_a_suggestion(cli):
    assert_error(cli("serach"), 2, "search")


def test_config_show_masks_secrets_and_names_sources(cli):
    done = cli("config", "show", "--json", NEO4J_PASSWORD="hunter2", LIBRARIAN_PORT="9000")
    entries = {entry["name"]: entry for entry in json.loads(done.stdout)}
    assert entries["LIBRARIAN_PORT"] == {"name": "LIBRARIAN_PORT", "value": "9000", "source": "environment"}
    assert entries["NEO4J_PASSWORD"]["source"] == "environment"
    assert "hunter2" not in done.stdout + cli("config", "show", NEO4J_PASSWORD="hunter2").stdout


def test_a_misspelt_variable_is_warned_about(cli):
    assert "LIBRARIAN_PORT" in cli("config", "show", LIBRARIAN_PROT="1").stderr


def test_a_bad_setting_is_one_message_and_exit_code_78(cli):
    assert_error(cli("config", "show", LIBRARIAN_PORT="many"), 78, "LIBRARIAN_PORT", "'many'", "65535")


def test_keys_are_made_listed_and_revoked_without_a_graph(cli, tmp_path):
    made = json.loads(
        cli("keys", "create", "ci", "--namespace", "a,b:*", "--scope", "read,write", "--expires", "3", "--json").stdout
    )
    assert made["key"].startswith("lib_")
    assert (made["namespaces"], made["scopes"]) == (["a", "b:*"], ["read", "write"])
    assert made["expires_at"]
    assert cli("keys", "revoke", made["id"]).returncode == 0
    listed = json.loads(cli("keys", "list", "--json").stdout)
    assert [(key["id"], key["revoked"], "key" in key) for key in listed] == [(made["id"], True, False)]
    assert made["key"] not in cli("keys", "list").stdout
    assert stat.S_IMODE((tmp_path / "home" / "keys.json").stat().st_mode) == 0o600


def test_a_new_key_is_alone_on_standard_output(cli):
    done = cli("keys", "create", "ci", "--namespace", "*", "--scope", "admin")
    assert re.fullmatch(r"lib_\S{43}\n", done.stdout)


def test_a_key_can_do_little_and_in_one_namespace_unless_told_otherwise(cli):
    made = json.loads(cli("keys", "create", "ci", "--json", LIBRARIAN_NAMESPACE="team:a").stdout)
    assert (made["namespaces"], made["scopes"], "expires_at" in made) == (["team:a"], ["read"], False)


def test_a_key_ends_when_it_is_told_to(cli):
    made = json.loads(cli("keys", "create", "ci", "--expires", "2990-01-31", "--json").stdout)
    assert made["expires_at"].startswith("2990-01-31T23:59:59")
    assert_error(cli("keys", "create", "ci", "--expires", "2020-01-31"), 65, "--expires", "past")
    assert_error(cli("keys", "create", "ci", "--expires", "0"), 65, "--expires", "past")
    assert_error(cli("keys", "create", "ci", "--expires", "soon"), 65, "--expires", "90d")
    assert len(json.loads(cli("keys", "list", "--json").stdout)) == 1


def test_a_rotated_key_is_shown_once_and_the_old_one_s_end_is_said(cli):
    old = json.loads(cli("keys", "create", "ci", "--scope", "write", "--json").stdout)
    done = cli("keys", "rotate", old["id"], "--grace", "24h", "--json")
    new = json.loads(done.stdout)
    assert new["key"].startswith("lib_")
    assert (new["name"], new["scopes"], new["state"]) == ("ci", ["write"], "valid")
    assert f"{old['id']} is valid until" in done.stderr
    done = cli("keys", "rotate", new["id"])
    assert re.fullmatch(r"lib_\S{43}\n", done.stdout)
    assert f"{new['id']} is useless now" in done.stderr
    states = [key["state"] for key in json.loads(cli("keys", "list", "--json").stdout)]
    assert states == ["valid", "revoked", "valid"]
    assert_error(cli("keys", "rotate", new["id"]), 65, "keys create")
    assert_error(cli("keys", "rotate", "nobody"), 66, "keys list")
    assert_error(cli("keys", "rotate", old["id"], "--grace", "x"), 65, "--grace", "90d")


def test_impossible_keys_are_refused(cli):
    assert_error(cli("keys", "create", "x", "--namespace", "*", "--scope", "root"), 65, "admin")
    assert_error(cli("keys", "revoke", "nobody"), 66, "keys list")
    assert_error(cli("keys", "show-local"), 66, "librarian serve")


def test_server_commands_leave_another_server_alone(cli):
    for command in ("start", "stop", "status", "password", "logs", "browser"):
        assert_error(cli("server", command, NEO4J_URI="bolt://127.0.0.1:1"), 78, "NEO4J_URI")


def test_status_of_a_server_that_never_ran_makes_nothing(cli, tmp_path):
    assert json.loads(cli("server", "status", "--json").stdout)["phase"] == "stopped"
    assert cli("server", "stop").returncode == 0
    assert_error(cli("server", "password"), 69, "server start")
    assert not (tmp_path / "home").exists()


def test_analysts_without_a_copy_are_told_how_to_get_one(cli, tmp_path):
    reported = json.loads(cli("analyst", "status", "--json").stdout)
    assert (reported["server"]["phase"], reported["copy"], reported["age_s"]) == ("stopped", None, None)
    assert "analyst start" in cli("analyst", "status").stdout
    done = cli("analyst", "stop")
    assert (done.returncode, done.stdout) == (0, "")
    assert "was not running" in done.stderr
    assert not (tmp_path / "home").exists()
    assert_error(cli("analyst", "start", "--namespace", "a b"), 65, "--namespace")
    assert_error(cli("analyst", "start", "--bolt-port", "0"), 2, "--bolt-port")
    assert_error(cli("analyst", "start", LIBRARIAN_REMOTE="http://127.0.0.1:1"), 65, "LIBRARIAN_REMOTE")


def test_a_database_that_does_not_answer_is_one_message(program):
    done = program("search", "x", NEO4J_URI="bolt://127.0.0.1:1", NEO4J_PASSWORD="hunter2")
    assert_error(done, 69, "does not answer")
    assert "hunter2" not in done.stderr


@pytest.mark.parametrize(
    ("args", "code", "word"),
    [
        (("ingest", "none.jsonl"), 66, "none.jsonl"),
        (("ingest", "."), 65, "none of the recognised formats"),
        (("ingest", ".", "--from", "slack"), 65, "Slack"),
        (("ingest", ".", "--from", "diary"), 65, "diary"),
        (("ingest", "-", "--from", "mem0"), 65, "--from"),
        (("ingest", "x.jsonl", "--from", "mem0", "--map", "paragraphs"), 65, "--map"),
        (("ingest", "-", "--resume"), 65, "standard input"),
        (("ingest", "-", "--namespace", "a b"), 65, "--namespace"),
        (("ingest", "-", "--map", "nothing"), 65, "map"),
        (("search", "x", "--limit", "99"), 65, "limit"),
        (("search", "x", "--kind", "poem"), 65, "--kind"),
        (("list", "--limit", "0"), 65, "--limit"),
        (("unlink", "a", "b"), 2, "SOURCE TYPE TARGET"),
        (("edit", "a"), 65, "--set"),
        (("put", "a", "none.json"), 66, "none.json"),
        (("put", "a", "-"), 65, "empty"),
        (("search", "x", "--from", "soon"), 65, "--from"),
        (("eval", "retrieval"), 65, "LIBRARIAN_EVAL_DATA"),
    ],
)
def test_wrong_input_is_said_before_anything_starts(cli, tmp_path, args, code, word):
    assert_error(cli(*args), code, word)
    assert not (tmp_path / "home").exists()


def test_a_taken_port_is_said_before_anything_starts(cli, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert_error(cli("serve", "--port", str(taken.getsockname()[1])), 78, "LIBRARIAN_PORT")
    assert_error(cli("serve", "--host", "0.0.0.0"), 78, "LIBRARIAN_ALLOW_INSECURE_BIND")
    assert not (tmp_path / "home").exists()


def test_doctor_starts_nothing_and_finds_the_installation_sound(cli, tmp_path):
    done = cli("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(done.stdout)}
    assert checks["packages"]["status"] == checks["text files"]["status"] == "ok"
    assert checks["database"]["status"] == checks["schema"]["status"] == "skipped"
    assert "server start" in checks["database"]["detail"]
    assert not (tmp_path / "home").exists()


def test_a_foreign_package_is_named_before_anything_breaks_on_it(program, tmp_path):
    foreign = tmp_path / "elsewhere" / "graph"
    foreign.mkdir(parents=True)
    (foreign / "__init__.py").touch()
    done = program("doctor", PYTHONPATH=str(foreign.parent))
    assert_error(done, 78, "Remove the other distribution")
    assert str(foreign) in done.stderr


def test_doctor_reports_a_database_that_refuses(cli):
    done = cli("doctor", "--json", NEO4J_URI="bolt://127.0.0.1:1")
    checks = {check["name"]: check["status"] for check in json.loads(done.stdout)}
    assert (checks["java"], checks["server files"], checks["database"]) == ("skipped", "skipped", "failed")
    assert done.returncode == 1


def test_the_public_names_load_on_first_use():
    program = "import sys, librarian; assert 'neo4j' not in sys.modules; print(librarian.Settings, librarian.Librarian)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "librarian.app.Librarian" in done.stdout


def test_nothing_but_the_managed_server_needs_posix_locks():
    """Native Windows has no fcntl and uses a server of its own: every command must load without it."""
    code = (
        "import sys; sys.modules['fcntl'] = None\n"
        "import librarian.app, librarian.base.keys, librarian.http.app\n"
        "from librarian.cli import main; sys.argv = ['librarian', 'config', 'show']; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, "LIBRARIAN_HOME" in done.stdout) == (0, True), done.stderr


@pytest.mark.parametrize("shown", [False, True])
def test_analysts_are_told_the_password_of_their_copy_and_of_nothing_else(cli, monkeypatch, variables, shown):
    """Neither the main server's password nor a command that prints it: whoever has that one may change everything."""
    home = Path(variables["LIBRARIAN_HOME"])
    (home / "analyst").mkdir(parents=True)
    (home / "neo4j.password").write_text("of-the-main-server")
    (home / "analyst" / "neo4j.password").write_text("of-the-copy")
    found = replace(ManagedServer(home / "analyst", home).status(), http_port=17475, bolt_port=17688)
    monkeypatch.setattr(ManagedServer, "status", lambda _: found)
    done = cli("analyst", "status", *["--show-password"] * shown)
    assert done.returncode == 0
    assert "of-the-main-server" not in done.stdout
    assert "librarian server" not in done.stdout
    assert ("of-the-copy" in done.stdout) is shown
    assert ("`librarian analyst status --show-password`" in done.stdout) is not shown
