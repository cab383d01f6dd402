"""The search agent's loop: what ends it, what it gives, and what it never does."""

import asyncio
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from librarian_agents.errors import ToolContractBroken, ToolFailed, ToolRetry
from librarian_agents.search.limits import Limits
from librarian_agents.search.loop import SearchAgent
from librarian_agents.search.types import Candidate, Evaluation, EvidenceTask, Need, Support
from tests.unit.librarian_agents.scripted import ScriptedClock, ScriptedTool


class Judge:
    """Finds an item wherever a text holds its name; asks for what is missing by number."""

    name = "judge"

    def __init__(self, failure=None, delay_s=0.0, planned=("first",), refined=None):
        self.failure, self.delay_s, self.planned, self.refined = failure, delay_s, planned, refined

    async def plan(self, task, budget):
        return self.planned

    async def evaluate(self, task, findings, budget):
        await asyncio.sleep(self.delay_s)
        needs = [
            Need(item, "", tuple(Support(one.temp_index, item, 1.0) for one in seen(findings) if item in one.text))
            for item in task.target_items
        ]
        return Evaluation(tuple(needs), self.failure)

    async def refine(self, task, findings, evaluation, budget):
        return self.refined if self.refined is not None else [f"query {len(findings.searches)}"]


def seen(findings):
    return findings.candidates.values()


def texts(*given, first=1):
    return [Candidate(number, text) for number, text in enumerate(given, start=first)]


def task(*items, max_retries=5):
    return EvidenceTask("question", items or ("alpha",), max_retries)


async def run(tool, asked, reasoner=None, **limits):
    return await SearchAgent(reasoner or Judge(), Limits(**limits), time).run(asked, tool)


async def test_stops_as_soon_as_everything_is_covered():
    tool = ScriptedTool([texts("alpha and beta", "nothing")])
    found = await run(tool, task("alpha", "beta"))
    assert (found.status, found.stopped_by, found.searches_used) == ("COMPLETED", "covered", 1)
    assert [one.temp_index for one in found.selected_evidence] == [1]
    assert found.coverage == {"alpha": (1,), "beta": (1,)}
    assert tool.queries == ["first"]


@pytest.mark.parametrize("allowed", [0, 1, 3])
async def test_max_retries_is_kept_exactly(allowed):
    answers = [texts(f"something else {number}", first=number) for number in range(1, 30)]
    found = await run(ScriptedTool(answers), task(max_retries=allowed))
    assert found.searches_used == allowed + 1
    assert found.stopped_by == "max_retries"


async def test_more_retries_than_the_limit_are_not_made():
    answers = [texts(f"something else {number}", first=number) for number in range(1, 99)]
    found = await run(ScriptedTool(answers), task(max_retries=10**9), max_refinements=20)
    assert found.searches_used == 21


async def test_two_rounds_that_bring_nothing_new_end_the_search():
    found = await run(ScriptedTool([texts("other")]), task())
    assert (found.stopped_by, found.searches_used) == ("no_progress", 3)
    assert (found.status, found.selected_evidence) == ("NO_EVIDENCE", ())


async def test_a_query_is_never_repeated_whatever_its_marks_and_letter_case():
    tool = ScriptedTool([texts("other")])
    found = await run(tool, task(), Judge(planned=["First!", "first", "ＦＩＲＳＴ"], refined=["first…", " FIRST "]))
    assert tool.queries == ["First!"]
    assert found.stopped_by == "no_new_query"


async def test_an_empty_plan_asks_the_question():
    tool = ScriptedTool([texts("alpha")])
    await run(tool, task(), Judge(planned=[" ", ""]))
    assert tool.queries == ["question"]


async def test_what_was_found_is_given_although_something_is_missing():
    found = await run(ScriptedTool([texts("alpha")]), task("alpha", "beta", max_retries=0))
    assert (found.status, found.missing_items) == ("PARTIAL", ("beta",))
    assert [one.temp_index for one in found.selected_evidence] == [1]
    assert found.reasoning_summary.startswith("1 of 2 target items covered by 1 of 1 candidates after 1 searches.")


@pytest.mark.parametrize("failure", ["judge_failed", "token_budget"])
async def test_a_judge_that_fails_is_not_success(failure):
    found = await run(ScriptedTool([texts("alpha")]), task(), Judge(failure=failure))
    assert (found.status, found.stopped_by) == ("PARTIAL", failure)
    assert [one.temp_index for one in found.selected_evidence] == [1]


@pytest.mark.parametrize("error", [ToolRetry(), ToolFailed()])
async def test_a_tool_that_fails_first_fails_the_request(error):
    with pytest.raises(type(error)):
        await run(ScriptedTool([error]), task())


async def test_a_tool_that_fails_later_leaves_the_best_so_far():
    found = await run(ScriptedTool([texts("alpha"), ToolRetry()]), task("alpha", "beta"))
    assert (found.status, found.stopped_by, found.searches_used) == ("PARTIAL", "tool_failed", 1)


@pytest.mark.parametrize(
    "second",
    [texts("another text"), [Candidate(-1, "negative")], [Candidate(7, "one"), Candidate(7, "two")]],
    ids=["numbering began anew", "negative", "twice in one answer"],
)
async def test_an_index_that_stands_for_two_texts_is_a_broken_contract(second):
    with pytest.raises(ToolContractBroken, match="temp_index"):
        await run(ScriptedTool([texts("one"), second]), task())


async def test_a_tool_that_contradicts_its_own_contract_is_not_forgiven_later():
    with pytest.raises(ToolContractBroken):
        await run(ScriptedTool([texts("alpha"), ToolContractBroken()]), task("alpha", "beta"))


async def test_the_same_text_under_its_index_is_no_fault():
    found = await run(ScriptedTool([texts("one", "two")]), task(max_retries=1))
    assert found.searches_used == 2


async def test_the_deadline_ends_a_slow_search_with_the_best_so_far():
    class Slow(ScriptedTool):
        async def search(self, query):
            found = await ScriptedTool.search(self, query)
            if len(self.queries) > 1:
                await asyncio.sleep(60)
            return found

    found = await run(Slow([texts("alpha")]), task("alpha", "beta"), deadline_s=0.2)
    assert (found.status, found.stopped_by, found.searches_used) == ("PARTIAL", "deadline", 1)


async def test_a_deadline_that_passes_between_the_steps_ends_the_search():
    tool = ScriptedTool([texts(f"other {number}", first=number) for number in range(1, 9)])
    found = await SearchAgent(Judge(), Limits(deadline_s=10), ScriptedClock(step=4)).run(task(), tool)
    assert found.stopped_by == "deadline"


async def test_no_round_begins_that_could_not_be_judged_before_the_deadline():
    class Clock:
        now = 0.0

        def monotonic(self):
            return self.now

    class Slow(Judge):
        async def evaluate(self, task, findings, budget):
            budget.clock.now += 6
            return await super().evaluate(task, findings, budget)

    answers = [texts("alpha"), *(texts(f"other {number}", first=number) for number in range(2, 9))]
    agent = SearchAgent(Slow(), Limits(deadline_s=20), Clock())
    found = await agent.run(task("alpha", "beta"), ScriptedTool(answers))
    assert (found.status, found.stopped_by, found.searches_used) == ("PARTIAL", "deadline", 2)


async def test_a_judge_without_an_end_is_cut_off_by_the_deadline():
    found = await run(ScriptedTool([texts("alpha")]), task(), Judge(delay_s=60), deadline_s=0.05)
    assert (found.status, found.stopped_by) == ("NO_EVIDENCE", "deadline")


async def test_cancelling_cancels_the_search_under_way():
    cancelled = asyncio.Event()
    searching = asyncio.Event()

    class Endless:
        async def search(self, query):
            searching.set()
            try:
                await asyncio.sleep(60)
            finally:
                cancelled.set()

    work = asyncio.create_task(run(Endless(), task()))
    await searching.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert cancelled.is_set()


async def test_ten_thousand_candidates_are_read_as_far_as_the_limit_goes():
    many = [Candidate(number, f"text {number}") for number in range(10_000)]
    found = await run(ScriptedTool([many]), task(max_retries=0), candidates_per_search=50)
    assert len(found.trace.named("search")[0]["candidates"]) == 50


async def test_one_request_keeps_a_bounded_number_of_candidates():
    answers = [texts(*(f"text {number}" for number in range(first, first + 30)), first=first) for first in (1, 31, 61)]
    found = await run(ScriptedTool(answers), task(max_retries=2), candidates=40)
    counts = [len(step["candidates"]) for step in found.trace.named("search")]
    assert counts == [30, 10, 0]


async def test_what_is_watched_tells_each_step_and_no_text():
    events = []
    tool = ScriptedTool([texts("alpha secret words"), texts("beta", first=2)])
    await SearchAgent(Judge(), Limits(), time).run(task("alpha", "beta"), tool, events.append)
    assert [event.name for event in events] == [
        "plan", "search", "candidates", "evaluation", "refine", "search", "candidates", "evaluation", "done"
    ]  # fmt: skip
    assert events[2].data == {"search_no": 1, "found": 1, "new": 1}
    assert "secret words" not in str(events)


async def test_tracing_of_langsmith_is_off_whatever_the_environment_says(monkeypatch):
    from langsmith.utils import get_env_var, tracing_is_enabled

    for name in ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2"):
        monkeypatch.setenv(name, "true")
    get_env_var.cache_clear()
    seen_as = []

    class Watching(ScriptedTool):
        async def search(self, query):
            seen_as.append(tracing_is_enabled())
            return await ScriptedTool.search(self, query)

    try:
        assert tracing_is_enabled()
        await run(Watching([texts("alpha")]), task())
    finally:
        monkeypatch.undo()
        get_env_var.cache_clear()
    assert seen_as == [False]


WORDS = st.sampled_from(["alpha", "beta", "gamma", "delta"])


@settings(deadline=None, max_examples=60)
@given(
    answers=st.lists(st.lists(st.lists(WORDS, max_size=3).map(" ".join), max_size=4), min_size=1, max_size=4),
    items=st.lists(WORDS, min_size=1, max_size=4, unique=True),
    retries=st.integers(0, 4),
)
def test_whatever_is_found_only_seen_indexes_are_selected_and_the_status_tells_the_truth(answers, items, retries):
    numbered, first = [], 1
    for answer in answers:
        numbered.append(texts(*answer, first=first))
        first += len(answer)
    tool = ScriptedTool([*numbered, []])
    found = asyncio.run(run(tool, task(*items, max_retries=retries)))
    shown = {one.temp_index: one.text for answer in numbered[: len(tool.queries)] for one in answer}
    selected = [one.temp_index for one in found.selected_evidence]
    assert len(tool.queries) == len(set(tool.queries)) == found.searches_used <= retries + 1
    assert set(selected) <= shown.keys()
    assert len(set(selected)) == len(selected)
    missing = [item for item in items if not any(item in text for text in shown.values())]
    assert list(found.missing_items) == missing
    wanted = "NO_EVIDENCE" if len(missing) == len(items) else "PARTIAL" if missing else "COMPLETED"
    assert found.status == wanted
