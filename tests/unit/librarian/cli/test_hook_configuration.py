"""The hooks of coding agents are written into their configuration once, and come out again without a trace."""

import json

import pytest

from librarian.base.errors import InvalidInput
from librarian.cli.hooks.configuration import Commands, Configuration, Program, file_of

THEIRS = {
    "model": "opus",
    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}], "PreToolUse": [{"matcher": "Bash"}]},
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "settings.json"


def commands(program, namespace="team"):
    return Commands.of(program, program_folder(namespace), namespace, ["/opt/librarian"])


def program_folder(namespace):
    return f"/srv/{namespace}/capture"


def installed(path, program=Program.CLAUDE_CODE, namespace="team"):
    found = Configuration.read(path)
    found.replace(found.with_hooks(program, commands(program, namespace)))
    return json.loads(path.read_text())


def test_hooks_stand_beside_those_of_others_and_once(path):
    path.write_text(json.dumps(THEIRS))
    first, second = installed(path), installed(path)
    assert first == second
    assert first["model"] == "opus"
    assert first["hooks"]["Stop"][0]["hooks"][0]["command"] == "say done"
    assert set(first["hooks"]) == {"SessionStart", "UserPromptSubmit", "Stop", "SessionEnd", "PreToolUse"}
    keep, recall = (handler["command"] for handler in first["hooks"]["SessionStart"][0]["hooks"])
    assert keep.endswith("/capture/keep.py claude-code /srv/team/capture team")
    assert recall == "/opt/librarian hook context claude-code --namespace team"


def test_another_namespace_takes_the_place_of_the_one_before(path):
    installed(path)
    content = json.dumps(installed(path, namespace="other"))
    assert "team" not in content


def test_hooks_whose_script_is_gone_are_told(path):
    installed(path)
    assert not Configuration.read(path).is_broken
    path.write_text(path.read_text().replace("/librarian/items/capture", "/elsewhere/items/capture"))
    assert Configuration.read(path).is_broken


def test_removing_leaves_what_was_there(path):
    path.write_text(json.dumps(THEIRS))
    installed(path)
    found = Configuration.read(path)
    assert found.is_installed
    found.replace(found.without_hooks())
    assert json.loads(path.read_text()) == THEIRS
    assert not Configuration.read(path).is_installed


def test_a_file_of_our_own_goes_with_its_last_hook(path):
    installed(path, Program.CODEX)
    found = Configuration.read(path)
    found.replace(found.without_hooks())
    assert not path.exists()


def test_a_file_that_cannot_be_read_is_left_alone(path):
    path.write_text("{ // comments\n}")
    with pytest.raises(InvalidInput, match="cannot be read as JSON"):
        installed(path)
    assert path.read_text() == "{ // comments\n}"


def test_time_limits_are_in_the_unit_of_each_program(path, tmp_path):
    assert installed(path)["hooks"]["Stop"][0]["hooks"][0]["timeout"] == 10
    gemini = installed(tmp_path / "gemini.json", Program.GEMINI)
    assert gemini["hooks"]["AfterAgent"][0]["hooks"][0]["timeout"] == 10_000


def test_each_program_has_its_place(tmp_path):
    assert file_of(Program.CLAUDE_CODE, tmp_path, {}) == tmp_path / ".claude" / "settings.local.json"
    assert file_of(Program.CODEX, None, {"CODEX_HOME": str(tmp_path)}) == tmp_path / "hooks.json"
    assert file_of(Program.GEMINI, None, {}).parts[-2:] == (".gemini", "settings.json")
