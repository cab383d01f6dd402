"""The regression lab on the sample data and on made-up folders: what it reports is true, and the same each time."""

import json

import msgspec
import pytest
import structlog

from librarian.base.errors import InvalidInput
from librarian.evaluation.contracts import EvalReport
from librarian.evaluation.lab import Lab
from librarian.evaluation.report import markdown
from librarian.evaluation.retrieval import Evaluation
from librarian.search.contracts import SearchInput
from retrieval.linear import default_weights

SYSTEMS = ("hybrid", "vector", "keyword", "bm25", "encoder", "rrf60")


@pytest.fixture(scope="module")
async def report(librarian) -> EvalReport:
    """The sample, by every kind of system."""
    wanted = Evaluation(["sample"], (*SYSTEMS, "hybrid,threshold=0.99"), ("bm25", "hybrid"))
    return await Lab(librarian).retrieval(wanted)


def system(report, name):
    return next(own for own in report.datasets[0].systems if own.system == name)


def test_the_sample_s_answers_are_found(report):
    """The small evaluation that always runs: a ranking that breaks shows here first."""
    (dataset,) = report.datasets
    assert (dataset.questions, dataset.unanswerable, dataset.corpora["largest"]) == (30, 6, 414)
    hybrid = system(report, "hybrid").overall
    assert hybrid["any@10"] >= 0.95
    assert hybrid["recall@10"] >= 0.72
    assert hybrid["ndcg@10"] >= 0.7


def test_both_arms_together_are_no_worse_than_each_alone(report):
    """Hybrid search keeps what its better arm finds."""
    best = max(system(report, arm).overall["recall@10"] for arm in ("vector", "keyword"))
    assert system(report, "hybrid").overall["recall@10"] >= best - 0.02


def test_every_system_answers_by_category_with_its_time(report):
    """Questions that cannot be answered have no recall, the others no abstention."""
    for name in SYSTEMS:
        entry = system(report, name)
        assert set(entry.by_category) == {"en", "ja", "unanswerable"}
        assert "recall@10" not in entry.by_category["unanswerable"]
        assert "abstention" not in entry.by_category["en"]
        assert 0 < entry.latency_ms["p50"] <= entry.latency_ms["p95"]


def test_a_threshold_that_nothing_reaches_abstains(report):
    """A system's options are really used: the vector's hits go, and with them most of what is unwanted."""
    strict, plain = system(report, "hybrid,threshold=0.99").overall, system(report, "hybrid").overall
    assert strict["unwanted"] < plain["unwanted"]
    assert strict["size"] < plain["size"]


def test_two_systems_are_compared_by_question_and_by_topic(report):
    """The interval holds the difference of the two means."""
    means = {name: system(report, name).overall for name in ("bm25", "hybrid")}
    found = {(entry.metric, entry.resampled): entry for entry in report.datasets[0].comparisons}
    for resampled in ("question", "group"):
        entry = found["ndcg@10", resampled]
        assert entry.low <= entry.difference <= entry.high
        assert entry.difference == pytest.approx(means["hybrid"]["ndcg@10"] - means["bm25"]["ndcg@10"], abs=2e-4)


async def test_the_same_seed_gives_the_same_report(librarian, report):
    """Byte for byte, but for the times."""
    wanted = Evaluation(["sample"], ("bm25", "encoder"), ("bm25", "encoder"), seed=7)
    first, second = [untimed(await Lab(librarian).retrieval(wanted)) for _ in range(2)]
    assert first == second


def untimed(report):
    plain = msgspec.to_builtins(report)
    for dataset in plain["datasets"]:
        for entry in dataset["systems"]:
            del entry["latency_ms"]
    return json.dumps(plain)


def test_a_report_is_one_page_with_all_systems(report):
    """Markdown holds a row for each system."""
    text = markdown(report)
    for name in SYSTEMS:
        assert f"| {name} |" in text
    assert "414 items" in text


@pytest.mark.parametrize(
    ("systems", "word"),
    [
        (["bm26"], "bm26"),
        (["hybrid,fusion=sum"], "score_sum"),
        (["hybrid,without=luck"], "previous_keyword"),
        (["hybrid,threshold=high"], "adaptive"),
        (["hybrid,rerank=maybe"], "yes or no"),
        (["hybrid,colour=red"], "colour"),
        (["hybrid,weights=none.toml"], "no such file"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_system_that_there_is_not_is_named(systems, word):
    """Before anything is loaded."""
    with pytest.raises(InvalidInput, match=word):
        Evaluation(["sample"], systems).names()


def test_each_signal_stands_for_as_many_systems_as_there_are_signals():
    """One run shows what every signal adds."""
    names = Evaluation(["sample"], ["hybrid", "hybrid,without=each"]).names()
    assert names[:2] == ["hybrid", "hybrid,without=vector"]
    assert len(names) == 1 + len(default_weights())


TURNS = [
    ("c1", "D1:1", "Ada", "I bought a red bicycle in Lisbon."),
    ("c1", "D1:2", "Ben", "My cat sleeps all day."),
    ("c2", "D1:1", "Cleo", "We moved to Porto last winter."),
    ("c2", "D1:2", "Dan", "The bakery burnt down."),
]
QUESTIONS = [
    ("c1", "Where did Ada buy the bicycle?", 4, ["D1:1"]),
    ("c1", "What does the cat do?", 4, ["D1:2"]),
    ("c1", "What did Ben buy?", 5, ["D1:1"]),
    ("c2", "Where did they move?", 1, ["D1:1"]),
    ("c2", "Which shop burnt?", 1, ["D1:2"]),
]


@pytest.fixture
def conversations(tmp_path, namespace):
    """A folder in the form of LoCoMo, under a name of its own."""
    folder = tmp_path / namespace
    folder.mkdir()
    then = "2023-05-08T13:56:00"
    turns = [
        {"sample_id": c, "dia_id": d, "session": 1, "speaker": s, "text": t, "session_datetime_iso": then}
        for c, d, s, t in TURNS
    ]
    questions = [
        {"sample_id": c, "question_id": f"q{number}", "question": q, "category": k, "evidence": e}
        for number, (c, q, k, e) in enumerate(QUESTIONS)
    ]
    for name, rows in (("conversations", turns), ("questions", questions)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return folder


async def test_conversations_are_apart_and_their_questions_are_also_asked_elsewhere(librarian, conversations):
    """A question that one conversation answers is unanswerable in the next; the folder above names the data set too."""
    (dataset,) = (await Lab(librarian).retrieval(Evaluation([str(conversations.parent)], ("hybrid",)))).datasets
    assert dataset.corpora == {"namespaces": 2, "smallest": 2, "largest": 2}
    assert dataset.categories == {"asked elsewhere": 4, "category 1": 2, "category 4": 2, "unanswerable": 1}
    assert dataset.systems[0].by_category["category 4"]["recall@5"] == 1
    assert dataset.systems[0].by_category["category 4"]["size"] == 2


async def test_weights_are_tried_on_the_conversation_left_out(librarian, conversations):
    """A fold for each, with every signal's weight."""
    report = await Lab(librarian).weights([str(conversations)])
    (folds,) = report.datasets.values()
    assert [(fold.left_out, fold.questions) for fold in folds] == [("c1", 2), ("c2", 2)]
    assert all(fold.weights.keys() == default_weights().keys() for fold in folds)


async def test_a_folder_that_is_no_data_set_is_refused(librarian, tmp_path):
    """With the formats that there are."""
    with pytest.raises(InvalidInput, match="not a data set"):
        await Lab(librarian).retrieval(Evaluation([str(tmp_path)]))


async def test_logged_searches_are_asked_again(librarian, ingest, namespace, tmp_path):
    """Each different one once; hashed ones and other lines are passed over; equal systems share everything."""
    await ingest(
        {"kind": "memory", "uid": "bike", "text": "The bicycle is red."},
        {"kind": "memory", "uid": "cat", "text": "The cat sleeps."},
    )
    search = {"event": "search", "namespace": namespace, "queries": ["red bicycle"]}
    hashed = {**search, "queries": ["0123456789ab"]}
    cat = {**search, "queries": ["feline naps"]}
    log = tmp_path / "log.jsonl"
    lines = [search, {"event": "audit", "namespace": namespace}, search, hashed, cat]
    log.write_text("not JSON\n" + "".join(f"{json.dumps(line)}\n" for line in lines))
    same = await Lab(librarian).replay(log, "hybrid", "hybrid")
    assert (same.queries, same.skipped, same.overlap, same.identical, same.changed) == (2, 1, 1, 1, [])
    other = await Lab(librarian).replay(log, "hybrid", "keyword")
    assert other.overlap < 1
    assert other.changed[0].query == "feline naps"
    assert set(other.changed[0].only_a) <= {"bike", "cat"}
    log.write_text(json.dumps(hashed))
    with pytest.raises(InvalidInput, match="hashed"):
        await Lab(librarian).replay(log, "hybrid", "keyword")


async def test_a_search_of_the_service_is_what_a_replay_asks(librarian, ingest, namespace, tmp_path):
    """The log line of a real search holds what `read_log` looks for."""
    await ingest({"kind": "memory", "uid": "bike", "text": "The bicycle is red."})
    with structlog.testing.capture_logs() as events:
        await librarian.search(namespace, SearchInput(queries=["red bicycle"]))
    (logged,) = [event for event in events if event["event"] == "search"]
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps(logged, default=str))
    assert (await Lab(librarian).replay(log, "hybrid", "vector")).queries == 1
