"""A language model's part in a sweep, by a model that does as it is told."""

from contextlib import aclosing

import pytest

from librarian.sweep.contracts import SweepLlm, SweepReport, SweepRequest
from librarian.sweep.llm import AGREEMENT, Llm
from librarian.sweep.plan import SweepContext
from librarian.sweep.run import sweep
from librarian_agents.errors import ChatModelUnavailable, UnusableReply
from librarian_agents.sweep.label import NUMBERS
from librarian_agents.sweep.memory_types import MemoryType

KNOWN = 12
NUMBER_OF = {type_: number for number, type_ in NUMBERS.items()}


class Model:
    """Labels a text by the first entry of `types` whose words it holds; fails with `error` after `calls` calls."""

    name = "scripted"

    def __init__(self, types, error=None, calls=10_000):
        self.types, self.error, self.left, self.asked = types, error, calls, []

    async def first_tokens(self, messages):
        text = messages[-1].content
        self.asked.append(text)
        self.left -= 1
        if self.left < 0:
            raise self.error
        type_ = next((type_ for words, type_ in self.types.items() if words in text), MemoryType.UNKNOWN)
        return {NUMBER_OF[type_]: -0.01}

    async def complete(self, messages, schema=None):
        self.asked.append(messages[-1].content)
        return '{"relation": "NONE"}'


@pytest.fixture
async def mixed(ingest):
    """Memories whose types the rules know, and two that they leave open."""
    rows = [{"uid": f"d{one}", "text": f"Decision: queue {one} is kept."} for one in range(KNOWN // 2)]
    rows += [{"uid": f"p{one}", "text": f"Problem: queue {one} is stuck, error: timeout."} for one in range(KNOWN // 2)]
    rows += [{"uid": f"open{one}", "text": f"Blue, mostly, as in {one}."} for one in range(2)]
    await ingest(*({"kind": "memory", **row} for row in rows), embed=False)


@pytest.fixture
def advised(executor, librarian, namespace):
    """Sweeps with a model; gives the estimate, the changes and the report."""

    async def run(model, **asked):
        ground = SweepContext(executor, namespace, librarian.parts.space, Llm(model, 3))
        estimate, changes = None, []
        async with aclosing(sweep(ground, SweepRequest(llm=True, **asked))) as events:
            async for event in events:
                match event:
                    case SweepLlm():
                        estimate = event.calls_expected
                    case SweepReport():
                        return estimate, changes, event
                    case _:
                        changes += event.changes
        raise AssertionError("a sweep ends with its report")

    return run


GOOD = {"Decision:": MemoryType.DECISION, "Problem:": MemoryType.PROBLEM, "Blue": MemoryType.INSIGHT}
BAD = {"Decision:": MemoryType.PATTERN, "Problem:": MemoryType.REFERENCE, "Blue": MemoryType.INSIGHT}
ONE_SIDED = {"": MemoryType.DECISION}


async def test_a_model_that_is_trusted_types_what_the_rules_leave_open(mixed, advised, memory):
    """After it has told known types rightly; its share, its name and the estimate are told."""
    model = Model(GOOD)
    estimate, changes, report = await advised(model)
    said = {one.memory_id: one for one in changes if one.method == "llm"}
    assert set(said) == {"open0", "open1"}
    assert {one.model for one in said.values()} == {"scripted"}
    llm = report.llm
    assert (llm.trusted, llm.examined, llm.agreed) == (True, KNOWN, KNOWN)
    assert estimate >= llm.calls == KNOWN + 2
    # One more, to see how long a call takes.
    assert len(model.asked) == llm.calls + 1


@pytest.mark.parametrize("types", [BAD, ONE_SIDED], ids=["wrong", "always the same"])
async def test_a_model_that_is_not_trusted_applies_nothing(mixed, advised, types, memory, stored):
    """Only changes of the rules alone are applied: a bad model costs no precision. Its words are proposals."""
    _, changes, report = await advised(Model(types))
    assert not report.llm.trusted
    assert report.llm.agreed < AGREEMENT * report.llm.examined
    assert {one.action for one in changes if one.method == "llm"} <= {"flag"}
    assert report.summary.memories_retyped == KNOWN
    assert (await memory("open0"))["type"] is None


async def test_a_model_is_not_asked_about_what_is_decided(mixed, advised):
    """Once it is examined, decided memories are none of its business."""
    model = Model(GOOD)
    await advised(model)
    undecided = [text for text in model.asked[KNOWN + 1 :] if "Blue" not in text]
    assert undecided == []


async def test_useless_answers_change_nothing(mixed, advised, memory):
    """They are counted, and the rules' word stands."""
    _, _, report = await advised(Model(GOOD, UnusableReply(), calls=KNOWN + 1))
    assert report.llm.unusable == 2
    assert (await memory("open0"))["type"] is None


async def test_a_model_that_is_away_stops_the_sweep_before_it_begins(mixed, advised, stored, librarian, namespace):
    """No run is begun, nothing is changed."""
    before = await stored()
    with pytest.raises(ChatModelUnavailable):
        await advised(Model(GOOD, ChatModelUnavailable(), calls=0))
    assert await stored() == before


async def test_a_model_that_goes_away_leaves_a_sweep_to_resume(mixed, advised, executor, namespace):
    """Finished changes are kept with the model's examination, and the run goes on when the model is back."""
    with pytest.raises(ChatModelUnavailable):
        await advised(Model(GOOD, ChatModelUnavailable(), calls=KNOWN + 1))
    (run,) = await executor.run_migration(
        "MATCH (run:SweepRun {namespace: $namespace}) RETURN run.sweep_id AS id", {"namespace": namespace}
    )
    model = Model(GOOD)
    _, changes, report = await advised(model, resume=run["id"])
    assert (report.status, report.llm.trusted) == ("applied", True)
    assert {one.memory_id for one in changes if one.method == "llm"} == {"open0", "open1"}
    assert len(model.asked) == 2, "it is not examined twice"
