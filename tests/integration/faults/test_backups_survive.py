"""Backups, restores and imports that are killed, full disks, and dumps under a service that runs."""

import asyncio
import contextlib
import json
import signal
import sys
from pathlib import Path

import msgspec
import pytest

from graph.importing import unfinished_import
from graph.local.dumps import dump_before_upgrade, examine_dump, facts_file
from graph.local.errors import DumpRefused, HomeRefused
from graph.local.filelock import exclusive
from graph.local.home import Home, open_home
from graph.local.state import read_launch
from librarian.app import open_librarian
from librarian.base.errors import Conflict, InvalidExport
from librarian.base.settings.settings import Settings
from librarian.cli.doctor_checks.database import database_checks
from librarian.transfer.reading import PORTION_ROWS, examine

pytestmark = pytest.mark.slow

PROGRAM = Path(sys.executable).with_name("librarian")
MESSAGES, CONVERSATIONS = 300, 3


@pytest.fixture
def settings(environment, tmp_path):
    """Of a Librarian in this process: a program takes longer to start than to do most of what these tests need."""
    own = {"LIBRARIAN_ENCODER": "none", "LIBRARIAN_BACKUP_DIR": str(tmp_path / "backups")}
    return Settings.from_env({**environment, **own})


@pytest.fixture
def opened(settings, endpoint):
    """Opens the home."""
    return lambda: open_librarian(settings, purpose="tests", linger_s=0)


async def store(librarian, namespace, messages, conversations):
    """Store so many messages in so many conversations."""

    async def rows():
        for n in range(messages):
            row = {"kind": "message", "uid": f"m{n:05}", "text": f"row {n}", "conversation_id": f"c{n % conversations}"}
            yield n + 1, msgspec.json.encode(row)

    assert (await librarian.ingest(rows(), namespace=namespace)).failed == 0


@pytest.fixture
async def filled(opened, namespace):
    """A namespace that holds something."""
    async with opened() as librarian:
        await store(librarian, namespace, MESSAGES, CONVERSATIONS)
    return namespace


@pytest.fixture
def started(start_command, environment, tmp_path):
    """Starts a command that a test will kill."""

    async def start(*args):
        with (tmp_path / "output").open("wb") as output:
            env = {**environment, "LIBRARIAN_ENCODER": "none"}
            return await start_command(*args, env=env, cwd=tmp_path, output=output)

    return start


@contextlib.asynccontextmanager
async def reserved(graph, namespace, uid):
    """Whoever creates this item within the block waits: a transaction that stays open has created it."""
    async with graph.driver.session() as session, await session.begin_transaction() as transaction:
        await transaction.run("CREATE (:Item {namespace: $namespace, uid: $uid})", {"namespace": namespace, "uid": uid})
        yield
        await transaction.rollback()


async def count_items(graph, namespace):
    found, _, _ = await graph.driver.execute_query(
        "MATCH (m:Item {namespace: $namespace}) RETURN count(m) AS items", {"namespace": namespace}
    )
    return found[0]["items"]


async def test_a_killed_import_goes_on_where_it_stopped(
    opened, namespace, cli, started, graph, settings, tmp_path, eventually
):
    """kill -9 amid the writing leaves a marked namespace that doctor names; the same command ends it, and what is
    exported then is the file, byte for byte.
    """
    file, again, copy = tmp_path / "export.jsonl", tmp_path / "again.jsonl", f"{namespace}-copy"
    messages, conversations = 2 * PORTION_ROWS + 1, 30
    async with opened() as librarian:
        await store(librarian, namespace, messages, conversations)
        await librarian.export_to(file, [namespace])
    async with reserved(graph, copy, f"m{messages - 1:05}"):
        process = await started("import", str(file), "-n", copy)

        async def under_way():
            assert process.returncode is None
            return await count_items(graph, copy) == 2 * PORTION_ROWS

        await eventually(under_way)
        process.send_signal(signal.SIGKILL)
        await process.wait()
    half = await unfinished_import(graph, copy)
    assert half.done == conversations + 2 * PORTION_ROWS  # conversations come first
    assert await count_items(graph, copy) == 2 * PORTION_ROWS
    (check,) = [check for check in await database_checks(settings) if check.name == "imports"]
    assert copy in check.detail

    # As if the ten seconds of its lease had passed.
    await graph.driver.execute_query("MATCH (lease:Lock {name: 'import'}) SET lease.expires_at = datetime.realtime()")
    code, out, said = await cli("import", str(file), "-n", copy, "--json", LIBRARIAN_ENCODER="none")
    assert code == 0, said
    report = json.loads(out)
    assert (report["resumed"], report["created"]["item"]) == (True, 1)
    async with opened() as librarian:
        await librarian.export_to(again, [copy])
    renamed = file.read_text().replace(namespace + '"', copy + '"')
    # But for the last line, which holds the hash of the others.
    equal = again.read_text().splitlines()[:-1] == renamed.splitlines()[:-1]
    assert equal


async def test_a_full_disk_leaves_no_half_backup(filled, environment, tmp_path, home):
    """The command says so with exit code 73, and the folder is as it was."""
    folder = tmp_path / "full"
    folder.mkdir()
    limited = f"ulimit -f 8; exec {PROGRAM} backup {folder}"
    process = await asyncio.create_subprocess_exec(
        "bash", "-c", limited, env={**environment, "LIBRARIAN_ENCODER": "none"}, stderr=asyncio.subprocess.PIPE
    )
    _, said = await process.communicate()
    assert (process.returncode, list(folder.iterdir())) == (73, [])
    assert b"cannot be written" in said


async def test_a_service_keeps_its_schedule(filled, serve, ready, http, tmp_path, eventually):
    """A backup that fails is logged and said by /readyz, which stays ready; one that is due is made at once, the oldest
    goes, and /metrics tells its age.
    """
    folder = tmp_path / "scheduled"
    folder.write_text("a file, not a folder")
    schedule = {"LIBRARIAN_ENCODER": "none", "LIBRARIAN_BACKUP_EVERY": "1d", "LIBRARIAN_BACKUP_DIR": str(folder)}
    service = await serve(**schedule, LIBRARIAN_BACKUP_KEEP="1")

    async def failed():
        return "backup failed" in service.log.read_text()

    await eventually(failed)
    await ready(service)
    probe = await http.get(f"{service.url}/readyz")
    assert (probe.status_code, probe.json()["checks"]["backup"]) == (200, f"no backup in {folder} yet")
    assert await service.stop() == 0
    folder.unlink()
    folder.mkdir()
    (folder / "librarian-20200101T000000Z.jsonl.gz").touch()
    service = await serve(**schedule, LIBRARIAN_BACKUP_KEEP="1")

    async def made():
        return "backup made" in service.log.read_text()

    await eventually(made)
    (kept,) = folder.iterdir()
    with kept.open("rb") as backup:
        facts = examine(backup)
    assert facts.rows[filled] == MESSAGES + CONVERSATIONS
    assert facts.header.vectors
    assert (await http.get(f"{service.url}/readyz")).json()["checks"]["backup"] == "ok"
    figures = (await http.get(f"{service.url}/metrics")).text
    assert 'librarian_backups_total{outcome="made"} 1.0' in figures
    age = next(line for line in figures.splitlines() if line.startswith("librarian_backup_age_seconds "))
    assert 0 <= float(age.split()[1]) < 600


async def test_a_restore_replaces_everything_and_keeps_what_was(filled, opened, cli, tmp_path):
    """A truncated file and a graph that holds something are refused, and nothing is changed; with --replace the graph
    is what the file says, and a backup of before is there.
    """

    async def backed_up(librarian):
        return Path((await librarian.backup()).file)

    async with opened() as librarian:
        first = await backed_up(librarian)
        content = first.read_bytes()
        cut = tmp_path / "cut.jsonl.gz"
        cut.write_bytes(content[:-100])
        for file, refusal in ((cut, InvalidExport), (first, Conflict)):
            with file.open("rb") as source, pytest.raises(refusal):
                await librarian.restore(source, replace=file is cut)
        assert (await backed_up(librarian)).read_bytes() == content
        await store(librarian, f"{filled}-late", 1, 1)
        later = await backed_up(librarian)
    folder = {"LIBRARIAN_ENCODER": "none", "LIBRARIAN_BACKUP_DIR": str(tmp_path / "safe")}
    code, out, _ = await cli("restore", str(first), "--replace", "--json", **folder)
    assert code == 0
    kept = (tmp_path / json.loads(out)["safety_backup"]).read_bytes() == later.read_bytes()
    async with opened() as librarian:
        back = (await backed_up(librarian)).read_bytes() == content
    assert (kept, back) == (True, True)


async def test_a_dump_drains_and_comes_back(filled, cli, serve, ready, http, headers, server, tmp_path, home):
    """While the server is down for a dump, and for its restore, a running service is in maintenance and answers 503
    with Retry-After; it goes on by itself. What the dump holds comes back, and a damaged one is refused at once.
    """
    service = await serve(LIBRARIAN_ENCODER="none")
    await ready(service)
    folder = tmp_path / "dumps"
    mine = {**headers, "Librarian-Namespace": filled}
    item = f"{service.url}/v1/items/m00001"

    async def during(*args):
        """Records the service's phases, and its answers to a read, while a command runs."""
        command = asyncio.create_task(cli(*args, LIBRARIAN_BACKUP_DIR=str(folder)))
        seen = []
        while not command.done():
            probe, read = await http.get(f"{service.url}/readyz"), await http.get(item, headers=mine)
            seen.append((probe.json()["phase"], read.status_code, "retry-after" in read.headers))
            await asyncio.sleep(0.3)
        await ready(service)
        return await command, seen

    (code, out, _), seen = await during("backup", str(folder), "--dump", "--json")
    assert code == 0
    assert ("maintenance", 503, True) in seen
    assert {status for _, status, _ in seen} <= {200, 503}
    assert all(reported for _, status, reported in seen if status == 503)
    dump = tmp_path / json.loads(out)["file"]
    assert (await http.get(item, headers=mine)).status_code == 200
    assert (await http.delete(item, headers=mine)).status_code == 200
    pid = server.status().pid
    await _refused_dumps(cli, dump, tmp_path)
    assert server.status().pid == pid
    (code, out, _), seen = await during("restore", str(dump), "--replace", "--json")
    assert code == 0
    assert ("maintenance", 503, True) in seen
    assert (await http.get(item, headers=mine)).status_code == 200
    assert examine_dump(tmp_path / json.loads(out)["safety_backup"], server="9999.0.0")


async def _refused_dumps(cli, dump, tmp_path):
    """Without its facts, truncated, noise, and of a newer server or Librarian."""
    spoilt, facts = tmp_path / "spoilt.dump", json.loads(facts_file(dump).read_text())
    spoilt.write_bytes(dump.read_bytes()[:-1])
    for reported in ({}, facts, facts | {"format": "x"}, facts | {"bytes": facts["bytes"] - 1}):
        if reported:
            facts_file(spoilt).write_text(json.dumps(reported))
        with pytest.raises(DumpRefused):
            examine_dump(spoilt, server=facts["server"])
    for reported in ({"server": "2099.01.0"}, {"librarian": "99.0"}):
        spoilt.write_bytes(dump.read_bytes())
        facts_file(spoilt).write_text(json.dumps(facts | reported))
        with pytest.raises(DumpRefused, match="restore it with"):
            examine_dump(spoilt, server=facts["server"])
    assert (await cli("restore", str(spoilt), "--replace"))[0] == 65


async def test_an_upgrade_is_dumped_before_and_no_way_leads_back(endpoint, server, home):
    """Once for each upgrade, never of a store that was not closed in good order; a newer store is refused, with the
    way back.
    """
    await server.stop()
    locked_home = Home(home)
    launch = read_launch(locked_home.launch)
    before = locked_home.server_version.read_text()
    locked_home.server_version.write_text("2026.01.0")
    try:
        state = locked_home.state.read_text()
        locked_home.state.write_text(state.replace('"clean": true', '"clean": false'))
        async with exclusive(locked_home.start_lock, timeout_s=60) as lock:
            with pytest.raises(HomeRefused, match="did not shut down cleanly"):
                await dump_before_upgrade(locked_home, launch, lock)
            locked_home.state.write_text(state)
            await dump_before_upgrade(locked_home, launch, lock)
            (made,) = locked_home.backups.glob("before-upgrade-*-from-2026.01.0.dump")
            stamp = made.stat().st_mtime_ns
            await dump_before_upgrade(locked_home, launch, lock)
        assert made.stat().st_mtime_ns == stamp
        assert examine_dump(made, server=launch.version).server == "2026.01.0"
        locked_home.server_version.write_text("2099.01.0")
        with pytest.raises(HomeRefused, match="before-upgrade-"):
            open_home(home, version=launch.version)
    finally:
        locked_home.server_version.write_text(before)
