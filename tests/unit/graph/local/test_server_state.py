"""state.json: written whole, read with patience, and what the public values say of it."""

import json

import pytest

from graph.local.errors import ServerNotRunning, ServerStartFailed, ServerTimeout
from graph.local.logtail import tail
from graph.local.server import Endpoint, ManagedServer
from graph.local.state import Launch, Phase, ServerState, read_launch, read_state, write_launch, write_state


def test_a_state_comes_back_as_it_was_written(tmp_path):
    state = ServerState(phase=Phase.READY, keeper_pid=1, pid=2, pid_started=3.5, bolt_port=4, java="/ü/java")
    write_state(tmp_path / "state.json", state)
    assert read_state(tmp_path / "state.json") == state


def test_a_launch_of_before_there_were_read_only_servers_is_writable(tmp_path):
    launch = Launch("jars", "2026.09.0", "java", 25, False, 512, 256, None, None, read_only=True)
    write_launch(tmp_path / "launch.json", launch)
    assert read_launch(tmp_path / "launch.json") == launch
    kept = json.loads((tmp_path / "launch.json").read_text())
    del kept["read_only"]
    (tmp_path / "launch.json").write_text(json.dumps(kept))
    assert not read_launch(tmp_path / "launch.json").read_only


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"phase": "unknown"}', '{"phase": "ready", "extra": 1}'])
def test_an_unreadable_state_means_nothing_runs(tmp_path, text):
    (tmp_path / "state.json").write_text(text)
    assert read_state(tmp_path / "state.json") == ServerState()


def test_a_home_that_does_not_exist_is_stopped(tmp_path):
    status = ManagedServer(tmp_path / "none", tmp_path).status()
    assert (status.phase, status.leases, status.pinned) == (Phase.STOPPED, (), False)
    assert not (tmp_path / "none").exists()


def test_a_ready_server_whose_processes_are_gone_is_stopped(tmp_path):
    write_state(tmp_path / "state.json", ServerState(phase=Phase.READY, pid=2**22 + 1, pid_started=1.0, keeper_pid=1))
    status = ManagedServer(tmp_path, tmp_path).status()
    assert (status.phase, status.pid, status.keeper_pid) == (Phase.STOPPED, None, None)


def test_a_failure_stays_visible_after_the_keeper_has_gone(tmp_path):
    write_state(tmp_path / "state.json", ServerState(phase=Phase.FAILED, error="no", log_tail="last line"))
    status = ManagedServer(tmp_path, tmp_path).status()
    assert (status.phase, status.error, status.log_tail) == (Phase.FAILED, "no", "last line")


async def test_waiting_ends_with_the_reason_when_there_is_nothing_to_wait_for(tmp_path):
    server = ManagedServer(tmp_path, tmp_path)
    with pytest.raises(ServerNotRunning):
        await server.wait_ready()
    write_state(tmp_path / "state.json", ServerState(phase=Phase.FAILED, error="no", log_tail="last line"))
    with pytest.raises(ServerStartFailed, match=r"(?s)no.*last line"):
        await server.wait_ready()
    write_state(tmp_path / "state.json", ServerState(phase=Phase.STARTING))
    with pytest.raises(ServerTimeout, match="still starting"):
        await server.wait_ready(timeout_s=0)


async def test_stopping_what_does_not_run_says_so(tmp_path):
    assert await ManagedServer(tmp_path / "none", tmp_path).stop() is False
    assert await ManagedServer(tmp_path, tmp_path).stop() is False


def test_an_endpoint_does_not_show_its_password():
    assert "hunter2" not in repr(Endpoint("bolt://x", "neo4j", "hunter2", "http://x"))


def test_tail_gives_the_last_lines(tmp_path):
    log = tmp_path / "log"
    assert tail(log, 3) == ""
    log.write_bytes(b"one\ntwo\nthr\xffee\n")
    assert tail(log, 2) == "two\nthr\ufffdee"


def test_state_files_are_private(tmp_path):
    write_state(tmp_path / "state.json", ServerState())
    assert (tmp_path / "state.json").stat().st_mode & 0o077 == 0
    assert json.loads((tmp_path / "state.json").read_text())["phase"] == "stopped"
