"""How embedding spaces, plans and comparisons are shown."""

from collections.abc import Iterable

from librarian.cli.display import table
from librarian.cli.evaluate_replay import show_replay
from librarian.cli.runtime import say
from librarian.contracts.service import SpaceStatus
from librarian.contracts.spaces import SpaceComparison, SpacePlan

_SHOWN = ("recall@1", "recall@5", "recall@10", "mrr", "ndcg@10")


def show_spaces(spaces: Iterable[SpaceStatus]) -> None:
    """One row a space."""
    rows = [(s.space, s.model, s.dimension, s.active, s.index_state, s.vectors, s.pending_items) for s in spaces]
    table(("space", "model", "dimension", "active", "index", "vectors", "pending items"), rows)


def show_plan(plan: SpacePlan) -> None:
    """What there is to do, and what it takes."""
    rows = [
        ("space", f"{plan.space} ({plan.dimension} numbers){', active' if plan.active else ''}"),
        ("vectors there", plan.vectors),
        ("items to encode", f"{plan.items}, {plan.characters} characters"),
        ("vectors to come", f"about {plan.new_vectors}"),
        ("time", f"about {_duration(plan.seconds)}, by {plan.sampled} items that were encoded to see"),
        ("room on the disk", f"about {plan.bytes / 1e6:.0f} MB"),
    ]
    table(("", ""), rows)


def show_comparison(found: SpaceComparison) -> None:
    """What the two spaces share, and the quality of each."""
    if found.queries is not None:
        show_replay(found.queries)
    rows = [
        (dataset.dataset, space, one.system, *(f"{one.overall.get(metric, 0.0):.3f}" for metric in _SHOWN))
        for space, report in found.labelled.items()
        for dataset in report.datasets
        for one in dataset.systems
    ]
    if rows:
        table(("data", "space", "system", *_SHOWN), sorted(rows, key=lambda row: (row[0], row[2])))
    for note in dict.fromkeys(_notes(found)):
        say(note)


def _notes(found: SpaceComparison) -> Iterable[str]:
    yield from found.notes
    for space, report in found.labelled.items():
        for dataset in report.datasets:
            yield from (f"{space}, {dataset.dataset}: {note}" for one in dataset.systems for note in one.notes)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3600:.1f} h"
