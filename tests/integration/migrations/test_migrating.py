"""The migrator on a real server that is blank before each test."""

import asyncio

import pytest

from graph.errors import SchemaMismatch
from graph.executor import Executor
from graph.schema import CONSTRAINTS, INDEXES, differences
from migrations.errors import (
    EditedMigration,
    InterruptedMigration,
    LockLost,
    MigrationFailed,
    MigrationLocked,
    MissingMigration,
    NewerDatabase,
    UnknownMigration,
)
from migrations.lock import NAME, LockTimes, held
from migrations.plan import Migration, State, discover, parse

pytestmark = pytest.mark.slow

ONCE = "// librarian: kind=data\nCREATE (:Counted {at: datetime.realtime()});\n"


def data(version: str, text: str = ONCE) -> Migration:
    return parse(f"{version}_data.cypher", text)


async def counted(graph: Executor) -> int:
    (row,) = await graph.run_migration("MATCH (n:Counted) RETURN count(n) AS nodes")
    return int(row["nodes"])


async def set_status(graph: Executor, version: str, status: str) -> None:
    text = "MATCH (m:Migration {version: $version}) SET m.status = $status"
    await graph.run_migration(text, {"version": version, "status": status})


async def leave_lock(graph: Executor, seconds: int) -> None:
    """A lock as a crashed process leaves it, which expires in so many seconds (negative: it has expired)."""
    text = """MERGE (l:Lock {name: $name})
              SET l.owner = 'crashed 1', l.expires_at = datetime.realtime() + duration({seconds: $seconds})"""
    await graph.run_migration(text, {"name": NAME, "seconds": seconds})


async def test_a_fresh_graph_gets_the_whole_schema(blank, migrator):
    """apply creates every declared constraint and index, ONLINE, and records who did it with what."""
    assert len(await differences(blank)) == len(CONSTRAINTS) + len(INDEXES)
    heard: list[str] = []
    done = await migrator().apply(lambda migration: heard.append(migration.version))
    assert [entry.version for entry in done] == heard == [entry.version for entry in discover()]
    assert await migrator().validate() == []
    (row,) = await blank.run_migration("MATCH (m:Migration {version: '0001'}) RETURN properties(m) AS record")
    record = row["record"]
    assert (record["status"], record["by"], record["app_version"]) == ("applied", "test", "0.0.0")
    assert record["server_version"].startswith("20")
    assert record["started_at"] <= record["finished_at"]


async def test_a_second_apply_does_nothing(blank, migrator):
    """Applying again runs no statement, whoever does it."""
    await migrator(data("0001")).apply()
    assert await migrator(data("0001"), owner="other").apply() == []
    assert await counted(blank) == 1


async def test_looking_writes_nothing(blank, migrator):
    """status, plan and validate leave a blank graph blank."""
    assert {status.state for status in await migrator().status()} == {State.PENDING}
    assert len((await migrator().plan()).pending) == len(discover())
    assert await migrator().validate()
    assert await blank.run_migration("MATCH (n) RETURN n") == []
    assert await blank.run_migration("SHOW CONSTRAINTS YIELD name") == []


async def test_an_edited_file_is_refused_until_it_is_accepted(blank, migrator):
    """An applied file with another text stops apply; repair accepts it, and does not run what is not repeatable."""
    await migrator(data("0001")).apply()
    edited = migrator(data("0001", ONCE + "RETURN 1;\n"), data("0002"))
    with pytest.raises(EditedMigration, match="0001_data"):
        await edited.apply()
    assert await counted(blank) == 1
    await edited.repair("0001")
    assert [entry.version for entry in await edited.apply()] == ["0002"]
    assert await counted(blank) == 2


async def test_repairing_a_schema_file_brings_a_dropped_index_back(blank, migrator):
    """A schema file is run again by repair."""
    await migrator().apply()
    await blank.run_migration("DROP INDEX message_order")
    (line,) = await migrator().validate()
    assert "message_order is missing" in line
    await migrator().repair("0001")
    assert await migrator().validate() == []


async def test_there_is_nothing_to_repair_about_an_unknown_or_pending_version(migrator):
    """repair names the command that helps instead."""
    with pytest.raises(UnknownMigration, match="status"):
        await migrator(data("0001")).repair("0009")
    with pytest.raises(UnknownMigration, match="apply"):
        await migrator(data("0001")).repair("0001")


async def test_a_missing_file_is_refused(migrator):
    """An applied version below the newest file must have its file."""
    await migrator(data("0001"), data("0002")).apply()
    with pytest.raises(MissingMigration, match="0001_data"):
        await migrator(data("0002")).apply()


async def test_a_newer_graph_is_refused(blank, migrator):
    """A graph that a newer Librarian migrated is left alone; the message names the versions and what to do."""
    await migrator(data("0001"), data("0002")).apply()
    older = migrator(data("0001"))
    with pytest.raises(NewerDatabase, match=r"0002_data.*Upgrade"):
        await older.apply()
    assert [status.state for status in await older.status()] == [State.APPLIED, State.NEWER]
    assert "newer" in (await older.validate())[0]


async def test_an_interrupted_schema_file_is_run_again(blank, migrator):
    """After a crash between begin and end, the next apply completes what the file says."""
    await migrator().apply()
    await blank.run_migration("DROP INDEX chunk_text")
    await blank.run_migration("DROP CONSTRAINT item_uid")
    await set_status(blank, "0001", "running")
    assert [status.state for status in await migrator().status()][:2] == [State.RUNNING, State.APPLIED]
    assert [entry.version for entry in await migrator().apply()] == ["0001"]
    assert await migrator().validate() == []


async def test_an_interrupted_file_that_is_not_repeatable_waits_for_a_person(blank, migrator):
    """Nothing is repeated that may not be; repair says that somebody has completed it."""
    await migrator(data("0001")).apply()
    await set_status(blank, "0001", "running")
    with pytest.raises(InterruptedMigration, match="0001_data"):
        await migrator(data("0001")).apply()
    await migrator(data("0001")).repair("0001")
    assert await migrator(data("0001")).apply() == []
    assert await counted(blank) == 1


async def test_of_many_at_once_one_works_and_the_others_find_it_done(blank, migrator):
    """Eight migrators on a blank graph race for bootstrap, lock and records; each file runs once."""
    files = (*discover(), data("9998"), data("9999"))
    done = await asyncio.gather(*(migrator(*files, owner=f"process {n}").apply() for n in range(8)))
    assert sorted(map(len, done)) == [0] * 7 + [len(files)]
    assert await counted(blank) == 2
    assert await migrator(*files).validate() == []


async def test_a_crashed_process_is_succeeded_when_its_lock_expires(blank, migrator):
    """An expired lock is free for the next one."""
    await leave_lock(blank, -1)
    assert len(await migrator(data("0001")).apply()) == 1


async def test_a_lock_that_is_held_makes_others_wait_and_say_for_whom(blank, migrator):
    """Whoever waits in vain hears who holds the lock, and changes nothing."""
    await leave_lock(blank, 60)
    with pytest.raises(MigrationLocked, match="crashed has migrated"):
        await migrator(data("0001"), times=LockTimes(ttl_s=3, poll_s=0.05, wait_s=0.3)).apply()
    assert await counted(blank) == 0


async def test_a_lock_outlives_its_time_while_its_owner_works(blank):
    """Renewal keeps the lock for longer than its lifetime; only release frees it."""
    async with held(blank, "first", LockTimes(ttl_s=3)):
        with pytest.raises(MigrationLocked):
            async with held(blank, "second", LockTimes(ttl_s=3, poll_s=0.1, wait_s=7)):
                pass
    async with held(blank, "third", LockTimes(ttl_s=3, wait_s=0)):
        pass


async def test_a_lost_lock_is_noticed_and_left_to_its_new_owner(blank):
    """Who finds another owner at renewal stops, and does not release what is not theirs."""
    async with held(blank, "first", LockTimes(ttl_s=0.3)) as lock:
        await leave_lock(blank, 60)
        async with asyncio.timeout(10):
            while not lock.lost:
                await asyncio.sleep(0.05)
    (row,) = await blank.run_migration("MATCH (l:Lock) RETURN l.owner AS owner")
    assert row["owner"] == "crashed 1"


async def test_a_stalled_process_cannot_record(blank, migrator):
    """A record is fenced: a migration whose lock went to another one in its midst is not recorded as applied."""
    thief = "MATCH (l:Lock) SET l.owner = 'thief 1', l.expires_at = datetime.realtime() + duration('PT1M')"
    with pytest.raises(LockLost):
        await migrator(data("0001", f"// librarian: kind=data\n{thief};\n")).apply()
    (row,) = await blank.run_migration("MATCH (m:Migration) RETURN m.status AS status, m.finished_at AS finished_at")
    assert row == {"status": "running", "finished_at": None}


async def test_another_index_under_our_name_is_reported(blank, migrator):
    """IF NOT EXISTS keeps silent about it; apply does not, and works once the index is gone."""
    await blank.run_migration("CREATE INDEX message_order FOR (n:Message) ON (n.uid)")
    with pytest.raises(SchemaMismatch, match="message_order has properties"):
        await migrator().apply()
    await blank.run_migration("DROP INDEX message_order")
    assert "0001" in [entry.version for entry in await migrator().apply()]


async def test_our_index_under_another_name_is_reported(blank, migrator):
    """IF NOT EXISTS skips ours beside an equal one; the message names it."""
    await blank.run_migration("CREATE INDEX theirs FOR (n:Memory) ON (n.namespace, n.type)")
    with pytest.raises(SchemaMismatch, match="memory_type is missing; drop its equal theirs"):
        await migrator().apply()


async def test_data_that_breaks_a_constraint_is_explained(blank, migrator):
    """The error names file, statement and what helps; after the cause is gone, apply completes."""
    await blank.run_migration("UNWIND [1, 2] AS i CREATE (:Item {namespace: 'n', uid: 'u'})")
    with pytest.raises(MigrationFailed, match=r"0001_items_and_structure, statement 1 .*item_uid.*apply"):
        await migrator().apply()
    await blank.run_migration("MATCH (n:Item) DETACH DELETE n")
    await migrator().apply()
    assert await migrator().validate() == []


async def test_what_analysts_add_is_left_alone(blank, migrator):
    """Indexes and nodes of others neither stop a migration nor count as differences."""
    await blank.run_migration("CREATE INDEX theirs FOR (n:Report) ON (n.title)")
    await blank.run_migration("CREATE (:Report {title: 'x'})")
    await migrator().apply()
    assert await migrator().validate() == []
    assert len(await blank.run_migration("SHOW INDEXES YIELD name WHERE name = 'theirs'")) == 1
