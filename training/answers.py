"""Asks the questions of small worlds, and counts the correct answers, without a language model.

    python training/answers.py [WORLDS] [--verbose]

WORLDS is a folder of worlds: items in ingest form, and cases, each with a question and what its answer must hold, must
not hold, or that there must be none. The rules and bounds of retrieval/extractive.py were chosen with them; check
changes on worlds that they were not chosen with.
"""

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from librarian import Librarian
from librarian.base.strictjson import convert
from librarian.search.contracts import AnswerInput, AnswerOutput

WORLDS = Path(__file__).with_name("answer_worlds")


async def main() -> None:
    """Store each world in its own namespace, ask, and print the shares."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("worlds", type=Path, nargs="?", default=WORLDS)
    arguments.add_argument("--verbose", action="store_true")
    chosen = arguments.parse_args()
    asked: Counter[str] = Counter()
    right: Counter[str] = Counter()
    async with Librarian() as librarian:
        for file in sorted(chosen.worlds.glob("*.json")):
            world = json.loads(file.read_text(encoding="utf-8"))
            namespace = f"training:{world['name']}"
            await librarian.ingest(_lines(world["items"]), namespace=namespace)
            await librarian.embed_pending()
            for case in world["cases"]:
                if case["ask"] != "answer":
                    continue
                question = {"query": case["query"], "now": world["now"], **case.get("body", {})}
                answer = await librarian.answer(namespace, convert(question, AnswerInput))
                asked[case["about"]] += 1
                right[case["about"]] += (held := _holds(answer, case["expect"]))
                if chosen.verbose and not held:
                    print(f"{world['name']} {case['id']} {case['query']}\n    {answer.text or answer.reason}")
    print({about: f"{right[about]}/{count}" for about, count in sorted(asked.items())})
    print(f"{right.total()} of {asked.total()} answers are right")


async def _lines(items: Sequence[Mapping[str, Any]]) -> AsyncIterator[tuple[int, bytes]]:
    for number, item in enumerate(items, start=1):
        yield number, json.dumps(item).encode()


def _holds(answer: AnswerOutput, expect: Mapping[str, Any]) -> bool:
    """Return whether the answer meets the case's expectations."""
    if expect.get("none"):
        return answer.status == "refused"
    text = answer.text.casefold()
    return all(part.casefold() in text for part in expect.get("answer_has", [])) and not any(
        part.casefold() in text for part in expect.get("answer_has_not", [])
    )


if __name__ == "__main__":
    asyncio.run(main())
