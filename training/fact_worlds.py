"""Measures the facts that are read off messages, on conversations whose facts a human has named.

    PYTHONPATH=. python training/fact_worlds.py [FOLDER…] [--verbose]

FOLDER holds worlds in the format of training/fact_worlds/train/*.json, which were written for the project: messages,
and with each the facts that it plainly states. A fact names all subjects, predicates and objects that are right; one
that is `optional` is right to find and no loss to miss (it is fleeting, or speaks of something that only other
sentences name).
The rules were written while looking at `train`; `heldout` was written before them, in other styles, and only
measured.

A fact that is found is right if its message has a fact of

- the same subject: the same words without articles and possessive endings, in any case,
- a predicate of the same meaning: the words of one hold those of the other, endings, auxiliary verbs and prepositions
  aside ("lives in", "live"); all copulas are one, to be scheduled on a day is to be
  on it, and a copula is no other predicate,
- the same object: the same words without articles and the preposition at the head, or at least two thirds of the words
  (or letters, in Japanese) in common.
"""

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from librarian.sweep.facts import facts_of_message
from librarian_agents.facts.stated import Stated
from retrieval.sentences import stem
from retrieval.text import has_cjk

WORLDS = Path(__file__).with_name("fact_worlds")
_FUNCTION_WORDS = """
is are am was were be been being has have had a an the of to in on at for from as with by under behind between s re m
ve now known number own scheduled
"""
_FUNCTION = frozenset(_FUNCTION_WORDS.split())
_PREPOSITIONS = frozenset({"in", "on", "at", "from", "by", "under", "behind", "until", "between", "number"})
_COPULAS = ("である", "です", "だ", "立場")
_ALIKE = 2 / 3


def words(text: str) -> list[str]:
    """Return the words of a text without articles, or its letters if it is Japanese."""
    folded = text.casefold().replace("’", "'")
    if has_cjk(folded):
        return [letter for letter in folded if letter.isalnum()]
    found = [re.sub(r"(?:'s|s'|[.'])$", "", word) for word in re.findall(r"[\w'.:@#/+-]+", folded)]
    return [word for word in found if word not in ("a", "an", "the")]


def same_object(found: str, wanted: str) -> bool:
    """Return whether two objects are the same, or nearly."""
    ours, theirs = (Counter(_without_preposition(words(text))) for text in (found, wanted))
    common = sum((ours & theirs).values())
    return ours == theirs or 2 * common >= 2 * _ALIKE * max(sum(ours.values()), sum(theirs.values()), 1)


def _without_preposition(found: Sequence[str]) -> Sequence[str]:
    return found[1:] if len(found) > 1 and found[0] in _PREPOSITIONS else found


def predicate_of(text: str) -> frozenset[str]:
    """Return the meaning of a predicate as terms that its wordings share; nothing for a copula."""
    if text in _COPULAS:
        return frozenset()
    if has_cjk(text):
        return frozenset(re.findall(r"[\u4e00-\u9fff\u30a0-\u30ff]", text)) or frozenset([text])
    return frozenset(stem(word) for word in re.findall(r"\w+", text.casefold()) if word not in _FUNCTION)


def right(fact: Stated, wanted: Mapping[str, Any]) -> bool:
    """Return whether a found fact is the wanted one."""
    ours = predicate_of(fact.predicate)
    theirs = [predicate_of(text) for text in wanted["predicate"]]
    predicate = any((ours == those) or (ours and those and (ours <= those or those <= ours)) for those in theirs)
    subject = any(words(fact.subject) == words(text) for text in wanted["subject"])
    return subject and predicate and any(same_object(fact.object, text) for text in wanted["object"])


def measure(folder: Path, *, verbose: bool) -> tuple[Counter[str], dict[str, Counter[str]]]:
    """Count found, correct and wanted facts in the worlds of a folder; and found and correct ones by form."""
    counts: Counter[str] = Counter()
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for file in sorted(folder.glob("*.json")):
        world = json.loads(file.read_text(encoding="utf-8"))
        for message in world["messages"]:
            _judge(world, message, counts, forms, verbose=verbose)
    return counts, dict(forms)


def _judge(
    world: Mapping[str, Any],
    message: Mapping[str, Any],
    counts: Counter[str],
    forms: defaultdict[str, Counter[str]],
    *,
    verbose: bool,
) -> None:
    wanted = message.get("facts", [])
    met: set[int] = set()
    for fact in facts_of_message(message["text"], message["author"], message.get("role", message["author"])):
        hits = [index for index, each in enumerate(wanted) if right(fact, each)]
        met.update(hits)
        for tally in (counts, forms[f"{fact.form} {fact.confidence}"]):
            tally["found"] += 1
            tally["right"] += bool(hits)
        if verbose and not hits:
            sys.stdout.write(
                f"  {world['name']}: not stated: {fact.subject} | {fact.predicate} | {fact.object} [{fact.form}]"
                f" <- {fact.quote}\n"
            )
    needed = [index for index, each in enumerate(wanted) if not each.get("optional")]
    counts["wanted"] += len(needed)
    counts["met"] += sum(index in met for index in needed)
    if verbose:
        for index in needed:
            if index not in met:
                first = [wanted[index][part][0] for part in ("subject", "predicate", "object")]
                sys.stdout.write(f"  {world['name']}: missed: {' | '.join(first)} <- {message['text']}\n")


def _share(part: int, whole: int) -> str:
    return f"{part / max(1, whole):.3f} ({part} of {whole})"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures of folders of worlds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="*", default=[WORLDS / "train", WORLDS / "heldout"])
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args(arguments)
    for folder in options.folders:
        counts, forms = measure(folder, verbose=options.verbose)
        sys.stdout.write(f"{folder.name}\n")
        sys.stdout.write(f"  precision {_share(counts['right'], counts['found'])}\n")
        sys.stdout.write(f"  recall    {_share(counts['met'], counts['wanted'])}\n")
        for form, tally in sorted(forms.items()):
            sys.stdout.write(f"    {form:20} {_share(tally['right'], tally['found'])}\n")


if __name__ == "__main__":
    main()
