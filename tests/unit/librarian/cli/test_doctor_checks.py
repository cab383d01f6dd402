import hashlib
import socket
import threading
from collections import namedtuple
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from graph.local.lock import Group, Jar
from librarian.base.findings import Check, look
from librarian.base.settings.settings import Settings
from librarian.cli.doctor_checks import installation, machine

Usage = namedtuple("Usage", ["total", "used", "free"])


async def found(name, settings):
    return await look(name, machine.machine_checks(settings)[name])


def expire(path, key_id, moment):
    """Let one key of the file expire at `moment`."""
    content = msgspec.json.decode(path.read_bytes())
    for key in content["keys"]:
        if key["id"] == key_id:
            key["expires_at"] = moment.isoformat()
    path.write_bytes(msgspec.json.encode(content))


async def test_keys_that_open_nothing_any_more_are_a_fault(settings, keys):
    assert (await found("keys", settings)).status == "ok"  # the first `serve` makes the file
    entry, _ = keys.create("agent", namespaces=["a"], scopes=["read"])
    assert (await found("keys", settings)).status == "ok"
    now = datetime.now(UTC)
    expire(settings.keys_file, entry.id, now + timedelta(days=3))
    ending = await found("keys", settings)
    assert (ending.status, entry.id in ending.detail) == ("warning", True)
    expire(settings.keys_file, entry.id, now - timedelta(days=3))
    over = await found("keys", settings)
    assert (over.status, "1 expired" in over.detail, "keys create" in over.remedy) == ("failed", True, True)


async def test_files_that_others_can_read_are_named_with_the_remedy(settings, keys):
    keys.create("agent", namespaces=["a"], scopes=["read"])
    settings.keys_file.chmod(0o644)
    assert (await found("keys", settings)).remedy == f"chmod 600 {str(settings.keys_file)!r}"
    password = settings.home / "neo4j.password"
    password.touch(mode=0o640)
    assert (await found("home", settings)).remedy == f"chmod 600 {str(password)!r}"
    password.chmod(0o600)
    assert (await found("home", settings)).status == "ok"
    settings.home.chmod(0o755)
    assert (await found("home", settings)).status == "failed"


@pytest.mark.parametrize(("free_mib", "status"), [(100_000, "ok"), (1_000, "warning"), (10, "failed")])
async def test_a_disk_that_fills_up_is_said_in_time(settings, monkeypatch, free_mib, status):
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda _path: Usage(0, 0, free_mib * 2**20))
    assert (await found("disk", settings)).status == status


async def test_a_port_is_free_ours_or_another_program_s(client, tmp_path):
    port = client.base_url.port
    ours = Settings.from_env({"LIBRARIAN_HOME": str(tmp_path), "LIBRARIAN_PORT": str(port)})
    service = await found("port", ours)
    assert (service.status, "Librarian service" in service.detail, "starting" in service.detail) == (
        "warning",
        True,
        True,
    )
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = Settings.from_env({"LIBRARIAN_HOME": str(tmp_path), "LIBRARIAN_PORT": str(other.getsockname()[1])})
        accepting = await found_beside(other, taken)
    assert (accepting.status, "another program" in accepting.detail) == ("failed", True)
    assert (await found("port", taken)).status == "ok"


async def found_beside(other, settings):
    """The finding while another program listens and closes every connection."""

    def refuse():
        other.accept()[0].close()

    thread = threading.Thread(target=refuse)
    thread.start()
    finding = await found("port", settings)
    thread.join()
    return finding


async def test_a_damaged_download_is_found_by_its_hash_only(tmp_path, monkeypatch):
    content = b"jar"
    locked = Jar("g:a:1", "g/a/1/a-1.jar", hashlib.sha256(content).hexdigest(), len(content))
    group = Group("server", "1", (locked,))
    folder = group.folder(tmp_path)
    folder.mkdir()
    (folder / "a-1.jar").write_bytes(content)
    monkeypatch.setattr(installation, "load_group", lambda _name: group)
    settings = Settings.from_env({"LIBRARIAN_CACHE": str(tmp_path)})

    async def server_files(*, deep):
        return await look("server files", installation.installation_checks(settings, deep=deep)["server files"])

    assert (await server_files(deep=True)).status == "ok"
    (folder / "a-1.jar").write_bytes(b"jur")
    assert (await server_files(deep=False)).status == "ok"
    deep = await server_files(deep=True)
    assert (deep.status, "a-1.jar" in deep.detail) == ("failed", True)
    assert str(folder) in deep.remedy


async def test_an_embeddings_server_that_does_not_answer_is_a_fault(settings, tmp_path):
    env = {"LIBRARIAN_HOME": str(tmp_path), "LIBRARIAN_ENCODER": "http:http://127.0.0.1:1/v1#model"}
    checks = installation.installation_checks(Settings.from_env(env), deep=False)
    finding = await look("encoder", checks["encoder"])
    assert (finding.status, "embeddings server" in finding.detail) == ("failed", True)


async def test_a_check_that_breaks_is_a_finding_too():
    def broken():
        raise RuntimeError("x")

    assert await look("odd", broken) == Check(
        "odd", "failed", "RuntimeError inside Librarian: x. LIBRARIAN_LOG_LEVEL=debug shows where."
    )
