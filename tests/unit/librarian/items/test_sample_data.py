"""The sample data set: well-formed, consistent, and as rich as its README says."""

import re
from collections import Counter, defaultdict
from datetime import UTC, datetime
from importlib.resources import files
from itertools import combinations
from typing import get_args

import msgspec
import pytest

from librarian.base.fields import MemoryType
from librarian.items.contracts import EdgeIn, FactIn, MemoryIn, MessageIn, RowIn
from librarian.sweep.sample import decisions

SAMPLE = files("librarian.items") / "sample"
CONTRACTS = {"messages": MessageIn, "facts": FactIn, "memories": MemoryIn, "edges": EdgeIn}
HALF_YEAR = (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC))
FAR_FUTURE = datetime.max.replace(tzinfo=UTC)
JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]{3}")
ENGLISH = re.compile(r"\b[A-Za-z]+ [a-z]+ [a-z]+\b")


def rows_of(name):
    lines = (SAMPLE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [msgspec.json.decode(line, type=RowIn) for line in lines]


MESSAGES, FACTS, MEMORIES, EDGES = (rows_of(name) for name in CONTRACTS)
ITEMS = {item.uid: item for item in MESSAGES + FACTS + MEMORIES}
FACTS_BY_UID = {fact.uid: fact for fact in FACTS}


def fact_text(fact):
    return fact.text or f"{fact.subject} {fact.predicate} {fact.object}"


def item_text(item):
    return fact_text(item) if isinstance(item, FactIn) else item.text


def valid_until(fact):
    """A replaced fact ends, at the latest, where its successor begins."""
    successors = [other.valid_from for other in FACTS if fact.uid in other.supersedes]
    return min([*successors, fact.valid_to or FAR_FUTURE])


def is_contradiction(entry, other):
    overlap = max(entry.valid_from, other.valid_from) < min(valid_until(entry), valid_until(other))
    return entry.fact_object != other.fact_object and overlap


def causes_of(uid):
    """Every chain of CAUSES edges that ends in `uid`, each from its first cause on."""
    sources = [edge.source for edge in EDGES if edge.type == "CAUSES" and edge.target == uid]
    return [[*chain, uid] for source in sources for chain in causes_of(source)] or [[uid]]


@pytest.mark.parametrize(("name", "contract"), CONTRACTS.items())
def test_every_row_is_of_the_kind_its_file_is_named_after(name, contract):
    assert {type(row) for row in rows_of(name)} == {contract}


@pytest.mark.parametrize(("rows", "least"), [(MESSAGES, 150), (FACTS, 80), (MEMORIES, 80), (EDGES, 40)], ids=CONTRACTS)
def test_there_is_enough_of_each_kind(rows, least):
    assert len(rows) >= least


def test_uids_are_given_and_unique():
    uids = Counter(item.uid for item in MESSAGES + FACTS + MEMORIES)
    assert uids.most_common(1)[0][1] == 1
    assert None not in uids


def test_a_message_is_named_by_its_uid_everywhere():
    assert all(message.message_id == message.uid for message in MESSAGES)


def test_positions_follow_the_clock_in_every_conversation():
    conversations = defaultdict(list)
    for message in MESSAGES:
        conversations[message.conversation_id].append(message)
    assert 12 <= len(conversations) <= 16
    for messages in conversations.values():
        assert [message.position for message in messages] == list(range(1, len(messages) + 1))
        assert messages == sorted(messages, key=lambda message: message.sent_at)


@pytest.mark.parametrize(("rows", "fields"), [
    (MESSAGES, ["sent_at"]), (FACTS, ["valid_from", "valid_to"]), (MEMORIES, ["occurred_at"]),
], ids=["messages", "facts", "memories"])  # fmt: skip
def test_times_have_an_offset_and_lie_in_the_half_year(rows, fields):
    times = [time for row in rows for field in fields if (time := getattr(row, field)) is not None]
    assert times
    assert all(time.tzinfo is not None for time in times)
    assert all(HALF_YEAR[0] <= time < HALF_YEAR[1] for time in times)


def test_people_have_one_name_each():
    names = defaultdict(set)
    for message in MESSAGES:
        names[message.author_id].add(message.author_name)
    assert all(len(known_as) == 1 for known_as in names.values())


def test_every_fact_rests_on_messages_that_exist():
    message_uids = {message.uid for message in MESSAGES}
    assert all(fact.evidence and message_uids.issuperset(fact.evidence) for fact in FACTS)


def test_a_fact_begins_before_it_ends():
    assert all(fact.valid_from < (fact.valid_to or FAR_FUTURE) for fact in FACTS)


def test_a_replaced_fact_ends_before_its_successor_begins():
    pairs = [(FACTS_BY_UID[old], new) for new in FACTS for old in new.supersedes]
    assert len(pairs) >= 15
    for old, new in pairs:
        assert old.valid_from < new.valid_from
        assert old.valid_to is None or old.valid_to <= new.valid_from


def test_no_fact_is_replaced_twice():
    replaced = Counter(old for fact in FACTS for old in fact.supersedes)
    assert set(replaced.values()) == {1}


def test_the_one_contradiction_is_the_renewal_date():
    groups = defaultdict(list)
    for fact in FACTS:
        if fact.person_id is not None:
            groups[fact.person_id, fact.fact_type, fact.relationship_type].append(fact)
    found = [
        {entry.uid, other.uid}
        for group in groups.values()
        for entry, other in combinations(group, 2)
        if is_contradiction(entry, other)
    ]
    assert found == [{"fact-lena-renewal-june", "fact-lena-renewal-september"}]


def test_memories_use_every_type_and_spread_their_importance():
    assert {memory.type for memory in MEMORIES} >= set(get_args(MemoryType))
    assert len({memory.importance for memory in MEMORIES if memory.importance}) >= 7
    assert len({memory.agent for memory in MEMORIES if memory.agent}) >= 3


def test_edges_join_two_different_items_once_a_type():
    assert all(edge.source != edge.target for edge in EDGES)
    assert ITEMS.keys() >= {end for edge in EDGES for end in (edge.source, edge.target)}
    triples = Counter((edge.source, edge.type, edge.target) for edge in EDGES)
    assert set(triples.values()) == {1}


def test_one_pair_is_said_to_cause_and_to_block():
    pairs = {kind: {(e.source, e.target) for e in EDGES if e.type == kind} for kind in ("CAUSES", "BLOCKS")}
    assert pairs["CAUSES"] & pairs["BLOCKS"] == {("mem-deploy-failed", "mem-tideline-v3-late")}


def test_one_circle_of_causes_goes_round():
    causes = {(edge.source, edge.target) for edge in EDGES if edge.type == "CAUSES"}
    assert {pair for pair in causes if pair[::-1] in causes and pair[0] < pair[1]} == {
        ("mem-flaky-log", "mem-rerun-habit")
    }


def test_decisions_are_about_what_the_sample_holds():
    for about, decision in decisions().items():
        assert decision.reason
        assert ITEMS.keys() >= {uid for uid in (decision.memory, decision.source, decision.target) if uid}
        assert len(about) == (1 if decision.memory else 3)


@pytest.mark.parametrize("edge", EDGES, ids=lambda edge: f"{edge.source}-{edge.type}-{edge.target}")
def test_quotes_stand_word_for_word_at_both_ends(edge):
    assert edge.source_quote
    assert edge.source_quote in item_text(ITEMS[edge.source])
    assert edge.target_quote
    assert edge.target_quote in item_text(ITEMS[edge.target])


@pytest.mark.parametrize(("incident", "root_cause", "steps"), [
    ("mem-deploy-failed", "mem-chart-cleanup", 5),
    ("mem-nordwind-escalation", "mem-n-plus-one", 4),
    ("mem-pool-incident", "mem-tideline-brownout", 3),
    ("mem-invoice-37-yen", "mem-misnamed-flag", 3),
    ("mem-atlantico-missed", "mem-fixed-offset", 2),
])  # fmt: skip
def test_an_incident_leads_back_to_its_root_cause(incident, root_cause, steps):
    assert max(len(chain) - 1 for chain in causes_of(incident) if chain[0] == root_cause) == steps


def test_the_security_finding_waits_at_the_end_of_a_chain_of_blockers():
    blocked_by = {edge.target: edge.source for edge in EDGES if edge.type == "BLOCKS"}
    chain = ["mem-soc2-finding"]
    while chain[-1] in blocked_by:
        chain.append(blocked_by[chain[-1]])
    assert chain[1:] == [
        "mem-pdfquill-upgrade", "mem-python312-image", "mem-font-missing", "mem-font-approval-wait",
    ]  # fmt: skip


@pytest.mark.parametrize("rows", [MESSAGES, FACTS, MEMORIES], ids=["messages", "facts", "memories"])
def test_both_languages_are_well_represented(rows):
    texts = [item_text(row) for row in rows]
    assert sum(bool(JAPANESE.search(text)) for text in texts) >= len(texts) * 0.15
    assert sum(bool(ENGLISH.search(text)) for text in texts) >= len(texts) * 0.5


def test_a_supersession_never_crosses_what_a_fact_is_about():
    for new in FACTS:
        for old in (FACTS_BY_UID[uid] for uid in new.supersedes):
            assert (old.person_id, old.fact_type, old.relationship_type) == (
                new.person_id, new.fact_type, new.relationship_type,
            )  # fmt: skip
