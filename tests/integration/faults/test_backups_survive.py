"""Backups, restores and imports that are killed, full disks, and dumps under a service that runs."""

import asyncio
import json
import signal
import sys
from pathlib import Path

import pytest

from graph.importing import unfinished_import
from graph.local.dumps import dump_before_upgrade, examine_dump, facts_file
from graph.local.errors import DumpRefused, HomeRefused
from graph.local.filelock import exclusive
from graph.local.home import Home, open_home
from graph.local.state import read_launch
from librarian.transfer.reading import examine

pytestmark = pytest.mark.slow

PROGRAM = Path(sys.executable).with_name("librarian")


MESSAGES, CONVERSATIONS = 300, 3


@pytest.fixture
def stored(cli, namespace, tmp_path, endpoint):
    """Stores so many messages in so many conversations."""

    async def store(messages, conversations):
        rows = [
            {"kind": "message", "uid": f"m{n:05}", "text": f"row {n}", "conversation_id": f"c{n % conversations}"}
            for n in range(messages)
        ]
        file = tmp_path / "rows.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert (await cli("ingest", str(file), "-n", namespace, "--no-embed", LIBRARIAN_ENCODER="none"))[0] == 0
        return namespace

    return store


@pytest.fixture
async def filled(stored):
    """A namespace that holds something."""
    return await stored(MESSAGES, CONVERSATIONS)


@pytest.fixture
def started(environment, tmp_path):
    """Starts a command that a test will kill."""

    async def start(*args):
        return await asyncio.create_subprocess_exec(
            PROGRAM, *args, env={**environment, "LIBRARIAN_ENCODER": "none"}, cwd=tmp_path,
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip

    return start


async def test_a_killed_import_goes_on_where_it_stopped(stored, cli, started, graph, tmp_path, eventually):
    """kill -9 amid the writing leaves a marked namespace that doctor names; the same command ends it, and what is
    exported then is the file, byte for byte.
    """
    filled = await stored(4000, 30)
    file, copy = tmp_path / "export.jsonl", f"{filled}-copy"
    assert (await cli("export", str(file), "-n", filled, LIBRARIAN_ENCODER="none"))[0] == 0
    process = await started("import", str(file), "-n", copy)

    async def under_way():
        assert process.returncode is None
        job = await unfinished_import(graph, copy)
        return job is not None and job.done > 0

    await eventually(under_way)
    process.send_signal(signal.SIGKILL)
    await process.wait()
    half = await unfinished_import(graph, copy)
    assert 0 < half.done < 4030
    stored, _, _ = await graph.driver.execute_query(
        "MATCH (m:Item {namespace: $copy}) RETURN count(m) AS items", {"copy": copy}
    )
    assert stored[0]["items"] == half.done - 30  # conversations come first
    _, said, _ = await cli("doctor", "--json")
    assert copy in said

    async def lease_has_ended():
        code, _, said = await cli("import", str(file), "-n", copy, "--no-embed", LIBRARIAN_ENCODER="none")
        assert code in (0, 75), said
        return code == 0

    await eventually(lease_has_ended)
    again = tmp_path / "again.jsonl"
    assert (await cli("export", str(again), "-n", copy, LIBRARIAN_ENCODER="none"))[0] == 0
    renamed = file.read_text().replace(filled + '"', copy + '"')
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


async def test_a_restore_replaces_everything_and_keeps_what_was(filled, cli, tmp_path, home):
    """A truncated file and a graph that holds something are refused, and nothing is changed; with --replace the graph
    is what the file says, and a backup of before is there.
    """
    folder = tmp_path / "backups"
    none = {"LIBRARIAN_ENCODER": "none", "LIBRARIAN_BACKUP_DIR": str(folder)}

    async def backed_up():
        code, out, _ = await cli("backup", str(folder), "--json", **none)
        assert code == 0
        return json.loads(out)["file"]

    first = await backed_up()
    content = (tmp_path / first).read_bytes()
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(content[:-100])
    assert (await cli("restore", str(cut), "--replace", **none))[0] == 65
    code, _, said = await cli("restore", first, **none)
    assert (code, "nothing was changed" in said) == (65, True)
    row = tmp_path / "row.jsonl"
    row.write_text('{"kind": "memory", "uid": "late", "text": "came later"}\n')
    assert (await cli("ingest", str(row), "-n", f"{filled}-late", "--no-embed", **none))[0] == 0
    later = await backed_up()
    code, out, _ = await cli("restore", first, "--replace", "--json", **none)
    assert code == 0
    safety = json.loads(out)["safety_backup"]
    kept = (tmp_path / safety).read_bytes() == (tmp_path / later).read_bytes()
    back = (tmp_path / await backed_up()).read_bytes() == content
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
        """What the service says while a command runs: phases, and answers to a read."""
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
    assert all(told for _, status, told in seen if status == 503)
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
    for told in ({}, facts, facts | {"format": "x"}, facts | {"bytes": facts["bytes"] - 1}):
        if told:
            facts_file(spoilt).write_text(json.dumps(told))
        with pytest.raises(DumpRefused):
            examine_dump(spoilt, server=facts["server"])
    for told in ({"server": "2099.01.0"}, {"librarian": "99.0"}):
        spoilt.write_bytes(dump.read_bytes())
        facts_file(spoilt).write_text(json.dumps(facts | told))
        with pytest.raises(DumpRefused, match="restore it with"):
            examine_dump(spoilt, server=facts["server"])
    assert (await cli("restore", str(spoilt), "--replace"))[0] == 65


async def test_an_upgrade_is_dumped_before_and_no_way_leads_back(endpoint, server, home):
    """Once for each upgrade, never of a store that was not closed in good order; a newer store is refused, with the
    way back.
    """
    await server.stop()
    place = Home(home)
    launch = read_launch(place.launch)
    before = place.server_version.read_text()
    place.server_version.write_text("2026.01.0")
    try:
        state = place.state.read_text()
        place.state.write_text(state.replace('"clean": true', '"clean": false'))
        async with exclusive(place.start_lock, timeout_s=60) as lock:
            with pytest.raises(HomeRefused, match="did not end in good order"):
                await dump_before_upgrade(place, launch, lock)
            place.state.write_text(state)
            await dump_before_upgrade(place, launch, lock)
            (made,) = place.backups.glob("before-upgrade-*-from-2026.01.0.dump")
            stamp = made.stat().st_mtime_ns
            await dump_before_upgrade(place, launch, lock)
        assert made.stat().st_mtime_ns == stamp
        assert examine_dump(made, server=launch.version).server == "2026.01.0"
        place.server_version.write_text("2099.01.0")
        with pytest.raises(HomeRefused, match="before-upgrade-"):
            open_home(home, version=launch.version)
    finally:
        place.server_version.write_text(before)
