"""A few rounds of `benchmarks/faults.py`; the whole campaign is too long for a test run."""

from dataclasses import replace

import pytest

from benchmarks.faults import Ledger, campaign
from librarian.base.settings.settings import Settings

pytestmark = pytest.mark.slow


async def test_nothing_is_lost_half_applied_or_foreign(environment, tmp_path):
    """Work and faults by a fixed seed; whatever happened, the graph is one that the answers allow."""
    settings = replace(Settings.from_env(environment), home=tmp_path / "home")
    outcome = await campaign(settings, None, rounds=2, minutes=10, seed=20)
    assert outcome.rounds == 2
    assert outcome.wrong == {"lost": [], "half applied": [], "foreign": []}


@pytest.mark.parametrize(
    ("status", "found", "wrong"),
    [
        (200, {"a": "1", "b": "2"}, None),
        (200, {"a": "1"}, "lost"),
        (200, {"a": "1", "b": "0"}, "lost"),
        (None, {}, None),
        (None, {"a": "1", "b": "2"}, None),
        (None, {"a": "1"}, "half applied"),
        (None, {"a": "1", "b": "2", "c": "3"}, "foreign"),
    ],
)
def test_the_ledger_tells_what_is_wrong(status, found, wrong):
    """Acknowledged writes have to be there; others whole or not at all; and nothing else."""
    ledger = Ledger()
    wanted = {("n", "a"): "1", ("n", "b"): "2"}
    ledger.begins(wanted)
    ledger.ends(wanted, status, atomic=True)
    told = ledger.compare({("n", uid): text for uid, text in found.items()})
    assert [kind for kind, ones in told.items() if ones] == ([wrong] if wrong else [])
