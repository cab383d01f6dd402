"""Measures the changes of a sweep in worlds with human verdicts, without a database.

    PYTHONPATH=. python training/sweep_worlds.py [FOLDER] [--verbose]

FOLDER holds worlds in the format of training/sweep_worlds/*.json, which were written for the project: memories with
their types, true edges, pairs that mislead a hasty reader, and words that belong in a section. All memories of a world
are read together, as a sweep reads a page with its search results; types are judged with the default encoder's vectors.
Worlds by other authors are the better measure: the words and rules were written while looking at these.
"""

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from librarian.base.settings.settings import Settings
from librarian.evaluation.causal import accepted, judge, of_world
from librarian.evaluation.types import embedded
from librarian.runtime.assembly import open_encoder
from librarian_agents.sweep.classify import Verdict
from librarian_agents.sweep.classify import judge as judge_type
from librarian_agents.sweep.memory_types import MemoryType
from librarian_agents.sweep.template import templated
from retrieval.text import has_cjk

WORLDS = Path(__file__).with_name("sweep_worlds")
World = Mapping[str, Any]


def count_edges(world: World, *, verbose: bool) -> Counter[str]:
    """Count the accepted edges, the correct ones, and the misleading ones among the wrong."""
    counts: Counter[str] = Counter()
    for case, verdict in accepted(judge(list(of_world(world)))):
        right, stated = case.right(verdict), case.kind == "stated"
        counts["accepted"] += verdict.causal
        counts["right"] += right
        counts["tempted"] += verdict.causal and case.kind == "tempting"
        counts["true"] += bool(case.answers)
        counts["explicit"] += stated
        counts["explicit found"] += stated and right
        if verbose and not right and (verdict.causal or case.answers):
            sys.stdout.write(f"  {case.kind}: {case.first.uid} {verdict.relation} {case.second.uid}: ")
            sys.stdout.write(f"{verdict.reason}\n")
    return counts


def count_types(world: World, verdicts: Mapping[str, Verdict], *, verbose: bool) -> Counter[str]:
    """Count the types that would be written, the correct ones, and those that a human can tell."""
    counts: Counter[str] = Counter()
    for uid, wanted in world["types"].items():
        counts["typeable"] += wanted != "Unknown"
        if verdicts[uid].accepted:
            counts["typed"] += 1
            counts["typed right"] += verdicts[uid].type == wanted
            if verbose and verdicts[uid].type != wanted:
                sys.stdout.write(f"  type of {uid}: {verdicts[uid].type}, a human says {wanted}\n")
    return counts


def count_sections(world: World) -> Counter[str]:
    """Count the words that belong in a section, and those that are there, where the type is known."""
    counts: Counter[str] = Counter()
    memories = {memory["uid"]: memory for memory in world["memories"]}
    for uid, wanted in world.get("templates", {}).items():
        type_ = memories[uid].get("type") or world["types"][uid]
        made = templated(memories[uid]["text"], MemoryType.parse(type_), [f"domain:{world['name']}"])
        for name, heading in (("reasoning_has", "## REASONING"), ("outcome_has", "## OUTCOME")):
            if name in wanted:
                section = made.text.partition(f"{heading}\n")[2].partition("\n## ")[0] if made.changed else ""
                counts["words"] += 1
                counts["words in their section"] += wanted[name] in section
    return counts


async def verdicts_of(world: World) -> dict[str, Verdict]:
    """Return the verdict on the type of each memory, with the vectors of the configured encoder."""
    uids = list(world["types"])
    texts = {memory["uid"]: memory["text"] for memory in world["memories"]}
    async with open_encoder(Settings.from_env()) as encoder:
        vectors = await embedded([texts[uid] for uid in uids], encoder)
    # The default encoder cannot read Japanese: a sweep has no vector of such a text.
    seen = {uid: None if has_cjk(texts[uid]) else vector for uid, vector in zip(uids, vectors, strict=True)}
    return {uid: judge_type(texts[uid], seen[uid]) for uid in uids}


def measure(folder: Path, *, verbose: bool) -> Counter[str]:
    """Return all counts over the worlds of a folder."""
    counts: Counter[str] = Counter()
    for file in sorted(folder.glob("*.json")):
        world = json.loads(file.read_text(encoding="utf-8"))
        sys.stdout.write(f"{world['name']}\n" if verbose else "")
        counts += count_edges(world, verbose=verbose)
        counts += count_types(world, asyncio.run(verdicts_of(world)), verbose=verbose)
        counts += count_sections(world)
    return counts


def _share(counts: Counter[str], part: str, whole: str) -> str:
    return f"{counts[part] / max(1, counts[whole]):.3f} ({counts[part]} of {counts[whole]})"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures of a folder of worlds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=WORLDS)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args(arguments)
    counts = measure(options.folder, verbose=options.verbose)
    rows = {
        "edges: precision": ("right", "accepted"),
        "edges: recall": ("right", "true"),
        "edges: recall of explicit ones": ("explicit found", "explicit"),
        "edges: tempting pairs accepted": ("tempted", "accepted"),
        "types: precision": ("typed right", "typed"),
        "types: coverage": ("typed", "typeable"),
        "sections: words where they belong": ("words in their section", "words"),
    }
    sys.stdout.write("".join(f"{name:36} {_share(counts, *parts)}\n" for name, parts in rows.items()))


if __name__ == "__main__":
    main()
