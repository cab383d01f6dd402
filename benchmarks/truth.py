"""Staleness after changes, and values that currently hold: generated worlds through the Python API, against a model.

    python -m benchmarks.truth [--seed N] [--worlds N] [--updates N] [--part development]

Worlds of citations (chains, diamonds, several supports) are changed by corrections, corrections of corrections, ends
and deletions, some of which are reverted. Then values of single-valued predicates are updated, without `supersedes`,
and queried: now, as of the day before, and as known before. Last come pairs of values, dated or not, in one batch or in
succession, of predicates with one value or many: it counts the newer values that replace the older one automatically
(wrong for many-valued predicates) and the pairs that are proposed. These predicates are held out, unless the
development part is requested.
"""

import argparse
import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec

from benchmarks.common import disposable, report
from benchmarks.predicates import DEVELOPMENT, HELD_OUT, Known
from librarian.app import Librarian
from librarian.items.contracts import Correction, DeleteInput
from librarian.search.contracts import RelevantInput, SearchInput

PREDICATES = ("lives in", "works at", "is owned by", "uses plan", "reports to", "has pool size", "phone number is",
              "preferred editor", "meets on", "is hosted on")  # fmt: skip
NAMES = ("Ada", "Bela", "Chika", "Dunja", "Emil", "Farid")
BEFORE, AFTER, BETWEEN = "2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-02-01T00:00:00Z"


@dataclass(slots=True)
class World:
    """The citations between items, and their changes; `fallen` maps an item that no longer stands to its change."""

    cites: dict[str, list[str]] = field(default_factory=dict)
    fallen: dict[str, str] = field(default_factory=dict)

    def unsupported(self) -> dict[str, bool]:
        """Return, for each remaining item that cites something, whether nothing supports it."""
        stands: dict[str, bool] = {}

        def supported(uid: str) -> bool:
            if uid not in stands:
                stands[uid] = not self.cites[uid] or any(
                    other not in self.fallen and supported(other) for other in self.cites[uid]
                )
            return stands[uid]

        return {uid: not supported(uid) for uid in self.cites if uid not in self.fallen and self.cites[uid]}


@dataclass(slots=True)
class Tally:
    """Correct answers out of all, by question."""

    right: dict[str, int] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)

    def count(self, what: str, *, right: bool) -> None:
        """Count one answer."""
        self.asked[what] = self.asked.get(what, 0) + 1
        self.right[what] = self.right.get(what, 0) + right


async def stored(librarian: Librarian, namespace: str, rows: list[dict[str, Any]]) -> None:
    """Ingest rows given as dicts."""

    async def lines() -> AsyncIterator[tuple[int, bytes]]:
        for number, row in enumerate(rows, start=1):
            yield number, msgspec.json.encode(row)

    done = await librarian.ingest(lines(), namespace=namespace, even_if_forgotten=True)
    assert done.failed == 0, done.errors


def world_rows(dice: random.Random, items: int) -> tuple[World, dict[str, dict[str, Any]]]:
    """Return a world of messages, facts and memories, each of which cites some of the earlier ones."""
    world = World()
    rows: dict[str, dict[str, Any]] = {}
    for number in range(items):
        kind = "message" if number < items // 4 else dice.choice(["fact", "memory", "memory"])
        uid = f"{kind[0]}{number}"
        cited = [] if kind == "message" else dice.sample(list(world.cites), dice.choice([0, 1, 1, 1, 2, 3]))
        world.cites[uid] = cited
        rows[uid] = {"kind": kind, "uid": uid, "text": f"Statement {number} about {dice.choice(NAMES)}."}
        if kind != "message":
            rows[uid]["evidence"] = cited
        if kind == "fact":
            rows[uid]["valid_from"] = BEFORE
    return world, rows


async def forget(librarian: Librarian, namespace: str, uid: str) -> None:
    preview = await librarian.delete_items(namespace, DeleteInput(uids=[uid]))
    await librarian.delete_items(namespace, DeleteInput(uids=[uid], confirm_token=preview.confirm_token))


async def change(librarian: Librarian, namespace: str, world: World, rows: dict[str, Any], dice: random.Random) -> None:
    """Correct, end or forget an item that still stands; revert half of these changes."""
    uid = dice.choice([one for one in world.cites if one not in world.fallen])
    kind, back = rows[uid]["kind"], dice.random() < 0.4
    if kind == "message" or dice.random() < 0.3:
        await forget(librarian, namespace, uid)
        world.fallen[uid] = "forgotten"
        if back:
            await stored(librarian, namespace, [rows[uid]])
    elif kind == "memory":
        await librarian.correct(namespace, uid, Correction(text=f"Not so: {rows[uid]['text']}"))
        world.fallen[uid] = "corrected"
        if back:
            await librarian.correct(namespace, uid, Correction(text=rows[uid]["text"]))
    elif dice.random() < 0.5:
        await librarian.patch_item(namespace, uid, {"valid_to": AFTER})
        world.fallen[uid] = "ended"
        if back:
            await librarian.patch_item(namespace, uid, {"valid_to": None})
    else:
        first = (await librarian.correct(namespace, uid, Correction(text=f"Rather not {uid}."))).item.uid
        world.fallen[uid] = "superseded"
        if back:
            await forget(librarian, namespace, first)
        else:
            await librarian.correct(namespace, first, Correction(text=f"Surely not {uid}."))
    if back:
        del world.fallen[uid]


async def judge_world(librarian: Librarian, namespace: str, world: World, tally: Tally) -> None:
    """Compare the marks of all remaining items with the model."""
    for uid, expected in world.unsupported().items():
        mark = (await librarian.get_item(namespace, uid)).unsupported
        if not expected:
            tally.count("not marked where supported", right=mark is None)
            continue
        roots = {world.fallen.get(cited) for cited in world.cites[uid]}
        what = "absence (a source was forgotten)" if "forgotten" in roots else "cascade (corrected, ended, in between)"
        tally.count(what, right=mark is not None)


async def cascades(librarian: Librarian, seed: int, worlds: int, tally: Tally) -> None:
    """Make worlds, change them, and judge after each change."""
    dice = random.Random(seed)
    for number in range(worlds):
        namespace = f"truth-{seed}-{number}"
        world, rows = world_rows(dice, 28)
        await stored(librarian, namespace, list(rows.values()))
        for _ in range(6):
            await change(librarian, namespace, world, rows, dice)
        await judge_world(librarian, namespace, world, tally)


def update_rows(number: int) -> tuple[str, list[dict[str, Any]], list[dict[str, Any]]]:
    """Return a question, the rows that state the old value, and those that state the new one."""
    predicate, subject = PREDICATES[number % len(PREDICATES)], f"{NAMES[number // len(PREDICATES) % 6]}{number}"
    values = (f"{10 + number}", f"{200 + number}") if "size" in predicate else (f"Alder{number}", f"Birch{number}")

    def rows(which: int, when: str) -> list[dict[str, Any]]:
        said = {"kind": "message", "uid": f"m{number}-{which}", "author": subject, "sent_at": when,
                "text": f"{subject} {predicate} {values[which]}."}  # fmt: skip
        fact = {"kind": "fact", "uid": f"f{number}-{which}", "subject": subject, "predicate": predicate,
                "object": values[which], "valid_from": when, "evidence": [said["uid"]]}  # fmt: skip
        return [said, fact]

    return f"{subject} {predicate}", rows(0, BEFORE), rows(1, AFTER)


async def updates(librarian: Librarian, seed: int, count: int, tally: Tally) -> None:
    """Update values, and query them now, as of before, and as known before."""
    namespace = f"updates-{seed}"
    worlds = [update_rows(number) for number in range(count)]
    await stored(librarian, namespace, [row for _, old, _ in worlds for row in old])
    before = datetime.now(UTC).isoformat()
    await stored(librarian, namespace, [row for *_, new in worlds for row in new])
    await librarian.embed_pending()
    for number, (query, *_) in enumerate(worlds):
        await _asked(librarian, namespace, number, query, before, tally)


async def _asked(librarian: Librarian, namespace: str, number: int, query: str, before: str, tally: Tally) -> None:
    old, new, stated = f"f{number}-0", f"f{number}-1", f"m{number}-0"
    hits = (await librarian.relevant_memory(namespace, RelevantInput(query=query))).hits
    by_uid = {hit.uid: hit for hit in hits}
    tally.count("new value found", right=new in by_uid)
    current = [uid for uid in (old, stated) if uid in by_uid and by_uid[uid].superseded_by is None]
    tally.count("old value not served as current", right=not current)
    order = [hit.uid for hit in hits if hit.uid in (new, f"m{number}-1", stated)]
    tally.count("new value above the message that states the old one", right=order[:1] != [stated])
    for clock, moment in (("as_of", BETWEEN), ("known_at", before)):
        given = {"queries": [query], "limit": 50, "filters": {clock: moment, "kinds": ["fact"]}}
        found = await librarian.search(namespace, msgspec.convert(given, SearchInput))
        first = [hit.uid for hit in found.results]
        tally.count(clock, right=first[:1] == [old] and new not in first)


def replacement_rows(dice: random.Random, known: Known, uid: str, subject: str) -> list[list[dict[str, Any]]]:
    """Return two values of a subject in batches: dated or not, together or one by one."""
    dated, at_once = dice.random() < 0.7, dice.random() < 0.3
    said = zip(dice.sample(known.objects, 2), (BEFORE, AFTER), strict=True)
    rows = [
        {"kind": "fact", "uid": f"{uid}-{which}", "subject": subject, "predicate": known.predicate, "object": value,
         **({"valid_from": when} if dated else {})}
        for which, (value, when) in enumerate(said)
    ]  # fmt: skip
    return [rows, []] if at_once and dated else [[row] for row in rows]


async def replacements(librarian: Librarian, seed: int, part: Sequence[Known], subjects: int, tally: Tally) -> None:
    """Give subjects a second value of each predicate, and count the outcomes for the first."""
    dice, namespace = random.Random(seed), f"replaced-{seed}"
    for subject in range(subjects):
        worlds = [
            replacement_rows(dice, known, f"f{number}-{subject}", f"{NAMES[number % len(NAMES)]}{subject}")
            for number, known in enumerate(part)
        ]
        for batch in zip(*worlds, strict=True):
            await stored(librarian, namespace, [row for rows in batch for row in rows])
    query = (
        "MATCH (n:Fact {namespace: $namespace})-[r:SUPERSEDES|PROPOSED]->(o:Fact) RETURN o.uid AS uid, type(r) AS type"
    )
    found, *_ = await librarian.parts.executor.driver.execute_query(query, {"namespace": namespace})
    became = {row["uid"]: row["type"] for row in found}
    for number, known in enumerate(part):
        for subject in range(subjects):
            _count_replaced(known, became.get(f"f{number}-{subject}-0", "kept"), tally)


def _count_replaced(known: Known, became: str, tally: Tally) -> None:
    if known.values == "many":
        tally.count("many values: kept", right=became != "SUPERSEDES")
        tally.count("many values: not even proposed", right=became == "kept")
    else:
        tally.count("one value: replaced", right=became == "SUPERSEDES")
        tally.count("one value: replaced or proposed", right=became != "kept")


async def run(librarian: Librarian, seed: int, worlds: int, count: int, part: Sequence[Known] = HELD_OUT) -> Tally:
    """Return the tally of everything."""
    tally = Tally()
    await replacements(librarian, seed, part, 5, tally)
    await cascades(librarian, seed, worlds, tally)
    await updates(librarian, seed, count, tally)
    return tally


async def benchmark(arguments: argparse.Namespace) -> None:
    """Run once on a new server."""
    print(f"seed: {arguments.seed}")
    async with disposable() as (librarian, _):
        part = DEVELOPMENT if arguments.part == "development" else HELD_OUT
        tally = await run(librarian, arguments.seed, arguments.worlds, arguments.updates, part)
    rows = [
        {"what": what, "right": tally.right[what], "asked": asked, "share": round(tally.right[what] / asked, 3)}
        for what, asked in sorted(tally.asked.items())
    ]
    report("truth", rows, seed=arguments.seed)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--worlds", type=int, default=20)
    parser.add_argument("--updates", type=int, default=60)
    parser.add_argument("--part", choices=("development", "held-out"), default="held-out")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(benchmark(_arguments()))
