from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from librarian_agents.sweep.causal import infer_relationship, read_relations
from librarian_agents.sweep.causal_arguments import Memories
from librarian_agents.sweep.causal_candidates import CandidatePair
from librarian_agents.sweep.causal_statements import statements
from librarian_agents.sweep.causal_terms import terms
from librarian_agents.sweep.causal_types import ACCEPTED_FROM, Direction, Note, Relation
from librarian_agents.sweep.memory_types import MemoryType
from librarian_agents.sweep.template import apply_template

FORWARD, BACKWARD, NONE = Direction.FORWARD, Direction.BACKWARD, Direction.NONE
CAUSES, BLOCKS, ENABLES, RELATES_TO = Relation

# The first of them opens a reference, "broken" a defect.
TOLD_WORDS = ["Reference", "broken", "works", "kiln", "glaze", "mugs", "oven", "crate", "label", "HRB-7", "HRB-8"]

# Not one of them is among the memories that the weights were fitted on.
TOLD = {
    "because of a ticket": (
        "ADR-12: sessions live in the database",
        "Logins became slow last week because of ADR-12.",
        CAUSES,
        FORWARD,
    ),
    "the effect first": (
        "The checkout page shows prices twice, as a result of PAY-9.",
        "PAY-9 renders the totals on the server as well",
        CAUSES,
        BACKWARD,
    ),
    "led to": ("OPS-5: the certificate expired unnoticed", "OPS-5 led to an outage of forty minutes.", CAUSES, FORWARD),
    "a sentence of its own": (
        "NET-77 changes the DNS server",
        "All health checks turned red at noon. This was caused by NET-77.",
        CAUSES,
        FORWARD,
    ),
    "blocked by a ticket": (
        "INFRA-3: order two more GPUs",
        "Training the ranker is blocked by INFRA-3.",
        BLOCKS,
        FORWARD,
    ),
    "prevents": ("SEC-2 pins the base image", "SEC-2 prevents the nightly image update.", BLOCKS, FORWARD),
    "depends on": ("API-8 publishes the schema", "Code generation depends on API-8.", ENABLES, FORWARD),
    "allows": ("STORE-4: objects are versioned", "STORE-4 allows us to restore deleted files.", ENABLES, FORWARD),
    "in its words": (
        "The queue workers run out of memory on large attachments.",
        "Mails arrive hours late because the queue workers run out of memory.",
        CAUSES,
        FORWARD,
    ),
    "a Japanese topic that is explained": (
        "検査機が一日に何度も止まる。",
        "検査機の停止は、新しい照明がまぶしすぎるせいだった。",
        CAUSES,
        BACKWARD,
    ),
    "a Japanese hindrance as the reason of a decision": (
        "承認待ちが三日を占める。",
        "見積もりは承認なしで出す。承認待ちが返事を遅らせていたので。",
        CAUSES,
        FORWARD,
    ),
    "a Japanese cause that makes possible": (
        "倉庫の屋根の張り替えが終わった。",
        "荷物をやっと戻せる。屋根の張り替えが終わったので、やっと戻せる。",
        ENABLES,
        FORWARD,
    ),
    "to blame": (
        "The address book on mail-2 dates from last year.",
        "Forty parcels came back. The outdated address book on mail-2 is to blame.",
        CAUSES,
        FORWARD,
    ),
    "the first of two joined causes": (
        "連休の朝食は食べ残しが毎日8キロ出た。",
        "朝食はお膳に戻します。連休中の食べ残しが8キロ出て、片付けにも人手を取られたためです。",
        CAUSES,
        FORWARD,
    ),
    "until": (
        "Legal has not signed the agreement with the cloud provider.",
        "We can't move the backups until Legal signs the agreement with the cloud provider.",
        BLOCKS,
        FORWARD,
    ),
    "waiting for": (
        "The storage driver hangs on snapshots of large volumes.",
        "The cluster upgrade is waiting for the vendor to fix the snapshots of the storage driver.",
        BLOCKS,
        FORWARD,
    ),
    "nothing can be done": (
        "PRICE-4: the pricing module is frozen until June",
        "Can't ship the spring offer: the pricing module is frozen",
        BLOCKS,
        FORWARD,
    ),
    "now possible": (
        "The security audit of the gateway is finished.",
        "Opening the gateway to partners is now possible as the security audit finished.",
        ENABLES,
        FORWARD,
    ),
    "unblocks": (
        "The provider raised our quota to 600 cores. That unblocks the load test of the search.",
        "The load test of the search ran on 480 cores.",
        ENABLES,
        FORWARD,
    ),
    "root cause, told later": (
        "INC-64: webhooks reached customers late.",
        "Root cause of INC-64: the consumer group was rebalancing without end.",
        CAUSES,
        BACKWARD,
    ),
    "thought of another": (
        "The node pool blue was drained on Monday.",
        "We thought the upgrade had broken the ingress, but it was the drain of node pool blue.",
        CAUSES,
        FORWARD,
    ),
    "one ticket blocks another": ("HRB-7: the lock leaks", "HRB-9 is stuck, HRB-7 blocks it.", BLOCKS, FORWARD),
    "trouble since": (
        "The bank turned off the old payout endpoint.",
        "Payouts have been stuck since the bank turned off the old payout endpoint.",
        CAUSES,
        FORWARD,
    ),
    "depends on whether": (
        "The roof inspection of the ferry is still open.",
        "We can't publish the timetable: it depends on whether the roof inspection of the ferry is done.",
        BLOCKS,
        FORWARD,
    ),
    "possible when": (
        "The booking app takes bicycles as well now.",
        "Booking for groups became possible when the booking app started to take bicycles.",
        ENABLES,
        FORWARD,
    ),
    "Japanese, the cause": (
        "循環ポンプ3号が空気を吸って止まった。",
        "クラゲが底に沈んだ。循環ポンプ3号の停止が原因。",
        CAUSES,
        FORWARD,
    ),
    "Japanese, not before": (
        "新しい調理師の健康診断の結果が届いていない。",
        "新しい調理師は、健康診断の結果が届くまで調理場に入れない。",
        BLOCKS,
        FORWARD,
    ),
    "Japanese, because of a ticket": (
        "ADR-12 セッションはデータベースに保存する",
        "ログインが遅い。原因は ADR-12 である。",
        CAUSES,
        FORWARD,
    ),
    "Japanese, waiting": (
        "部品G-7はメーカー欠品で、入荷は4月末。",
        "搬送モーターの更新は、部品G-7の入荷待ち。",
        BLOCKS,
        FORWARD,
    ),
    "Japanese, made possible": (
        "写真つきの手順書を全工程のタブレットに入れた。",
        "写真つきの手順書がタブレットに入ったので、夜勤だけで段取り替えができるようになった。",
        ENABLES,
        FORWARD,
    ),
    "Japanese, by a number": (
        "ジョブ0087の手順を書き換えた。",
        "0087がロックを取ったため、集計が止まった。",
        CAUSES,
        FORWARD,
    ),
    "Japanese, which is why": (
        "OPS-5 証明書の更新を忘れた",
        "OPS-5 が原因で四十分間停止した。",
        CAUSES,
        FORWARD,
    ),
}


@pytest.mark.parametrize(("first", "second", "relation", "direction"), TOLD.values(), ids=TOLD)
def test_what_a_memory_says_of_another_becomes_an_edge(first, second, relation, direction):
    verdict = infer_relationship(Note(first), Note(second))
    assert (verdict.relation, verdict.direction) == (relation, direction)
    source, target = (first, second) if direction is FORWARD else (second, first)
    assert verdict.source_quote in source
    assert verdict.target_quote in target
    assert all((verdict.source_quote, verdict.target_quote, verdict.cue))
    assert verdict.cue.lower() in (first + second).lower()


DENIED = {
    "not because": ("ADR-12: sessions live in the database", "Logins are slow, but not because of ADR-12."),
    "did not cause": ("OPS-5: the certificate expired", "OPS-5 did not cause the outage on Monday."),
    "is not blocked by": ("INFRA-3: order two GPUs", "Training is not blocked by INFRA-3."),
    "Japanese": ("OPS-5 証明書の更新", "停止の原因は OPS-5 ではない。と調べて分かった。"),
    "only named": ("ADR-12: sessions live in the database", "ADR-12 was written by Ana and Tom in March."),
    "doubted": ("HRB-5: lock leak in exporter", "I doubt that HRB-5 caused the outage."),
    "corrected": ("HRB-5: lock leak in exporter", "We thought HRB-5 caused the outage, but it was DNS."),
    "caused nothing": ("HRB-5: lock leak in exporter", "HRB-5 caused no outage."),
    "only compared": ("HRB-5: lock leak in exporter", "The outage was caused by HRB-6, similar to HRB-5."),
    "asked": ("HRB-5: lock leak in exporter", "Did HRB-5 cause the outage?"),
    "searched for": (
        "The packet loss in rack 4 began on Monday.",
        "The search for the cause of the packet loss in rack 4 goes on.",
    ),
    "imagined": ("HRB-5: lock leak in exporter", "HRB-5 would have caused an outage."),
    "a fix": ("Customers were charged twice.", "BILL-221 fixed: customers are no longer charged twice."),
    "a reference": ("ADR-019 keeps the default ranking.", "See docs/adr/ADR-019-ranking.md for details."),
    "labels of one story": ("Problem: the export job locks the table", "Fix: the export job reads the replica"),
    "Japanese, doubted": ("天井照明をLEDへ替えた。", "塗装に色むらが出た。天井照明の交換が原因だとは思えない。"),
    "Japanese, corrected": (
        "回線を新しい会社へ切り替えた。",
        "回線の切替のせいだと思っていたが、実際は受信メモリがいっぱいだった。",
    ),
    "a Japanese cause that another sentence denies": (
        "校門の前の道が雨で冠水した。",
        "回線が一時間切れた。冠水のせいではなく、工事業者がケーブルを切ったためである。",
    ),
    "waiting as such": ("課長の承認を五月から求める。", "返事の遅れは課長の承認待ちが三日を占める。"),
    "a date of then": ("The mast was painted.", "All has been fine since the mast was painted."),
    "an allowance": (
        "The crate is opened only after a day.",
        "No flash in any room; the newspaper was allowed one for the opening.",
    ),
    "a noun like a verb": ("The clock sends breaks as records.", "The clock API delivers breaks separately."),
    "a cause that is looked for": (
        "We rerun flaky tests out of habit.",
        "Standup: the search for its cause goes on, rerun habit of the flaky tests included.",
    ),
    "no cue, though plausible": ("It rained all night.", "The cellar was under water in the morning."),
}


@pytest.mark.parametrize(("first", "second"), DENIED.values(), ids=DENIED)
def test_what_is_denied_or_has_no_cue_is_no_cause(first, second):
    assert not infer_relationship(Note(first), Note(second)).causal


@pytest.mark.parametrize("modal", ["might lead", "could lead", "would have led"])
def test_what_is_only_supposed_is_at_most_proposed(modal):
    verdict = infer_relationship(Note("OPS-5: the certificate expires in May"), Note(f"OPS-5 {modal} to an outage."))
    assert not verdict.accepted
    told = infer_relationship(Note("OPS-5: the certificate expires in May"), Note("OPS-5 led to an outage."))
    assert told.accepted
    assert told.confidence >= ACCEPTED_FROM


def test_a_text_cannot_point_back_to_what_happened_later():
    cause = Note("OPS-5: the certificate expired", occurred_at=datetime(2026, 5, 1, tzinfo=UTC))
    after = Note("OPS-5 led to an outage.", occurred_at=datetime(2026, 5, 2, tzinfo=UTC))
    before = Note("OPS-5 led to an outage.", occurred_at=datetime(2026, 4, 1, tzinfo=UTC))
    assert infer_relationship(cause, after).causal
    assert not infer_relationship(cause, before).causal
    assert not infer_relationship(before, cause).causal


def test_a_memory_is_known_by_its_uid():
    cause = Note("The relay was moved to another host.", uid="mem-7f3a")
    effect = Note("Mail has been late since Friday because of mem-7f3a.")
    verdict = infer_relationship(cause, effect)
    assert (verdict.relation, verdict.direction) == (CAUSES, FORWARD)
    assert not infer_relationship(Note(cause.text), effect).causal
    assert not infer_relationship(Note(cause.text, uid="mem-7"), effect).causal


@pytest.mark.parametrize(
    "other",
    [
        "The worker cannot remove the node because no node with that id is there.",
        "The worker cannot remove the node due to the lack of a node with that id in the store.",
    ],
)
def test_two_wordings_of_one_story_are_no_cause_of_each_other(other):
    first = Note("The worker cannot add the node because a node with that id is already kept in this very store.")
    second = Note(other)
    assert not infer_relationship(first, second).causal
    assert not infer_relationship(first, first).causal


@pytest.mark.parametrize(("similarity", "relation"), [(0.8, RELATES_TO), (0.59, None), (None, None)])
def test_without_evidence_only_close_texts_are_related(similarity, relation):
    verdict = infer_relationship(Note("The lift is slow."), Note("Elevators take long."), similarity=similarity)
    assert (verdict.relation, verdict.direction) == (relation, NONE)


@pytest.mark.parametrize("similarity", [None, 0.3])
def test_a_shared_name_alone_relates_nothing(similarity):
    first, second = Note("ADR-12 is due in May."), Note("Ana wrote ADR-12.")
    assert infer_relationship(first, second, similarity=similarity).relation is None


@pytest.mark.parametrize("title", ["# The context of the schema outcome\n\n", ""])
def test_a_quote_is_a_sentence_and_no_heading(title):
    """Also of a text that a sweep has put into sections: a heading shares words with anything."""
    texts = [
        apply_template(f"{title}It has three owners. We keep ADR-12 for its outcome.", type_)
        for type_ in (MemoryType.DECISION, MemoryType.INSIGHT)
    ]
    other = Note("The context, the tags and the reasoning of the schema's outcome: type decision.")
    for text in texts:
        verdict = infer_relationship(Note(text), other, similarity=0.9)
        assert verdict.relation is RELATES_TO
        assert verdict.source_quote == "We keep ADR-12 for its outcome."


def test_a_heading_is_quoted_where_there_is_nothing_else():
    verdict = infer_relationship(Note("# ADR-12: one owner"), Note("Ana wrote ADR-12."), similarity=0.9)
    assert (verdict.source_quote, verdict.target_quote) == ("# ADR-12: one owner", "Ana wrote ADR-12.")


@pytest.mark.parametrize("name", TOLD)
def test_sections_do_not_hide_what_a_memory_says(name):
    """Sections that a sweep has written around the texts change no verdict of the next sweep."""
    first, second, relation, direction = TOLD[name]
    written = [Note(apply_template(text, MemoryType.PROBLEM)) for text in (first, second)]
    verdict = infer_relationship(*written)
    assert (verdict.relation, verdict.direction) == (relation, direction)


def test_of_a_statement_within_another_only_what_it_states_is_the_cause():
    found = statements("新しい釜のおかげで夜中も湯が出せるようになったので、風呂を23時まで開ける。")
    assert {one.form: one.cause for one in found}["ので"] == "夜中も湯が出せるようになった"


def test_a_numbered_part_of_a_name_is_a_name():
    assert {"cache-ams3", "ams3"} <= terms("cache-ams3 is full").keys()


def test_one_word_of_a_consequence_is_not_enough():
    """Any memory may hold it; of a cause, where it stands alone in the clause, it is."""
    assert not infer_relationship(
        Note("The crate is opened after a day."), Note("The grant allows an opening.")
    ).accepted
    assert infer_relationship(Note("The certificate is under review."), Note("We wait for the certificate.")).accepted


@pytest.mark.parametrize(("days", "drawn"), [(0, True), (6, True), (8, False)])
def test_a_consequence_may_be_noted_a_little_later(days, drawn):
    said = Note(
        "The seals dried out, which forced us to steam every keg by hand.", "a", datetime(2026, 5, 1, tzinfo=UTC)
    )
    noted = Note("All kegs are steamed by hand, two people.", "b", datetime(2026, 5, 1 + days, tzinfo=UTC))
    assert infer_relationship(said, noted).accepted is drawn


def test_of_many_memories_the_one_that_fits_best_is_meant():
    notes = [
        Note("The certificate of the mail gateway expired on Friday.", uid="gateway"),
        Note("The certificate of the shop was renewed.", uid="shop"),
        Note("The mail server got more memory.", uid="memory"),
        Note("All mail bounced because the certificate of the mail gateway had expired.", uid="bounced"),
    ]
    pairs = [CandidatePair("bounced", uid, "neighbour") for uid in ("gateway", "memory", "shop")]
    found = {(pair.first, pair.second): verdict for pair, verdict in read_relations(notes, pairs, ["bounced"])}
    assert {pair for pair, verdict in found.items() if verdict.causal} == {("bounced", "gateway")}
    assert found["bounced", "gateway"].accepted


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(TOLD_WORDS), min_size=3, max_size=9), min_size=8, max_size=14),
    st.lists(st.sampled_from(TOLD_WORDS), min_size=1, max_size=5),
    st.lists(st.booleans(), min_size=14, max_size=14),
)
def test_the_memory_that_a_clause_means_is_the_best_of_all_and_leads_the_next(texts, clause, dated):
    """Memories are left out where they cannot be among the two best."""
    notes = [
        Note(". ".join(words) + ".", f"note-{index}", datetime(2026, 5, 1, tzinfo=UTC) if dated[index] else None)
        for index, words in enumerate(texts)
    ]
    memories, said = Memories(notes), " ".join(clause)
    each = [memories.meant_by(said, "note-0", lambda note, uid=uid: note.uid == uid) for uid in memories.read]
    first, *others = sorted(filter(None, each), key=lambda match: (-match.strength, match.uid)) or [None]
    found = memories.meant_by(said, "note-0", lambda note: True)
    assert (found and found.uid) == (first and first.uid)
    if found and others:
        assert found.lead == round(1 - others[0].strength / first.strength, 3)


def test_an_accepted_edge_says_in_words_why():
    verdict = infer_relationship(
        Note("ADR-12: sessions live in the database"), Note("Logins are slow because of ADR-12.")
    )
    assert verdict.reason == 'with "because of" it names the other ("ADR-12") as the cause of what it tells'


@pytest.mark.parametrize("text", ["", " \n", "\0\ud800", "```\n| a | b |\n```", "why? " * 50_000])
def test_any_text_can_be_read(text):
    assert not infer_relationship(Note(text), Note("ADR-12 led to this.")).causal


PIECES = st.sampled_from(
    ["ADR-12", "the queue", "workers stop", "because", "led to", "so", "Fix:", "Problem:", "this caused", "prevents",
     "not", "might", ".", ",", "\n", "そのため", "停止した", "As a result,", "memory runs out", "Root cause:"]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=12).map(" ".join)


@settings(deadline=None)
@given(TEXTS, TEXTS, st.none() | st.floats(0, 1))
def test_the_order_of_the_texts_changes_only_the_direction(first, second, similarity):
    assume(first != second)
    one_way = infer_relationship(Note(first), Note(second), similarity=similarity)
    other_way = infer_relationship(Note(second), Note(first), similarity=similarity)
    assert other_way == one_way.turned()


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_quotes_are_literal_parts_of_the_texts(first, second):
    verdict = infer_relationship(Note(first), Note(second))
    source, target = (second, first) if verdict.direction is BACKWARD else (first, second)
    assert verdict.source_quote in source
    assert verdict.target_quote in target
    assert not verdict.causal or (verdict.source_quote and verdict.target_quote and verdict.cue)


CONSTRUCTIONS = [
    line.split("|")
    for line in Path(__file__).with_name("data").joinpath("constructions.txt").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize(("relation", "cause", "text"), CONSTRUCTIONS)
def test_each_usual_way_to_state_a_cause_is_read(relation, cause, text):
    read = [(one.relation, "cause" in one.told_by) for one in statements(text) if cause in one.cause]
    assert (Relation(relation), True) in read


@pytest.mark.parametrize("stance", ["I doubt that ", "It is unclear whether ", "We thought that ", "Perhaps "])
def test_no_way_to_state_a_cause_hides_how_the_sentence_stands_to_it(stance):
    said = [(cause, text) for _, cause, text in CONSTRUCTIONS if text.isascii() and text.count(". ") == 0]
    assert len(said) > 90
    for cause, text in said:
        read = statements(f"{stance}{text[0].lower()}{text[1:]}")
        assert [one for one in read if cause in one.cause and not one.supposed] == []


@pytest.mark.parametrize(
    "text",
    [
        "Swapping the filter did not help.",
        "The new filter made no difference.",
        "The failures did not stop with the new filter.",
        "Nothing changed after the filter swap.",
        "フィルターを替えても、ポンプの音は消えない。",
        "フィルターを替えたのが効いたわけではない。",
        "フィルターを替えたら直るだろうか。",
        "フィルターがなくても支障はない、ポンプが止まった。",
    ],
)
def test_what_did_not_help_is_no_cause(text):
    assert statements(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "The chain was not eaten by the dog.",
        "Were the savings eaten by the repairs?",
        "I doubt that the cable was cut by the digger.",
        "Costs were cut by 20 %.",
        "The new worker does not make the alarms wait.",
        "I don't think the new worker makes the alarms wait.",
        "Does the new worker make the alarms wait?",
        "The refunds never emptied the wallet.",
        "It is unclear whether the refunds emptied the wallet.",
        "Whether the flood left us no choice is unclear.",
        "The flood left us a choice.",
        "The flood has not convinced us.",
        "But for the moment the pump runs.",
        "The pump stopped for the time being.",
        "We measured with the doors closed.",
        "We could launch with or without the permit.",
        "So the filter?",
        "出荷はフィルター次第ではない。",
        "担当者が着き次第に連絡する。",
        "フィルターの詰まりが理由ではない。",
        "フィルターの件に懲りていない。",
        "フィルターの詰まりによるものではない。",
        "フィルターの詰まりが引き金とは考えにくい。",
    ],
)
def test_words_of_a_cause_that_state_none_are_not_read(text):
    assert [one for one in statements(text) if not one.supposed] == []


def story(*own):
    """Return memories of one namespace: those given, and enough others to tell how rare a word is."""
    others = ["The printer is on the second floor.", "Lunch is at noon.", "Ana leads the design meeting on Tuesdays."]
    others += ["The parking lot gets new lamps.", "Invoices go to the office in Lyon.", "The logo is blue."]
    return [Note(text, f"{'abc'[at]}{at}") for at, text in enumerate(own)] + [
        Note(text, f"other{at}") for at, text in enumerate(others)
    ]


def accepted_edges(notes):
    found = read_relations(notes, [], [note.uid for note in notes])
    return {
        (pair.first, pair.second, verdict.relation, verdict.direction)
        for pair, verdict in found
        if verdict.accepted and verdict.causal
    }


@pytest.mark.parametrize(
    ("told", "accepted"),
    [
        ("The Orbis savings were eaten by the broken chains of April.", True),
        ("The Orbis savings were hardly eaten by the broken chains of April, I doubt it.", False),
        ("Perhaps the Orbis savings were eaten by the broken chains of April.", False),
        ("Were the Orbis savings eaten by the broken chains of April?", False),
        ("The Orbis savings were eaten by the broken wheels and pedals of spring.", False),
    ],
)
def test_harm_done_by_what_another_memory_tells_is_its_effect(told, accepted):
    edges = accepted_edges(story("Broken chains on 17 bikes in April; a normal month has two.", told))
    assert edges == ({("a0", "b1", Relation.CAUSES, Direction.FORWARD)} if accepted else set())


def test_a_cleft_sentence_names_the_cause_before_the_effect():
    notes = story(
        "The annex lights flicker every evening.", "It was a loose neutral wire that made the annex lights flicker."
    )
    assert accepted_edges(notes) == {("a0", "b1", Relation.CAUSES, Direction.BACKWARD)}


def test_the_clause_of_a_cleft_sentence_ends_before_its_effect():
    cleft = next(
        one for one in statements("It was a loose wire that made the lights flicker.") if "that" not in one.cause
    )
    assert (cleft.cause, cleft.effect) == ("a loose wire", "made the lights flicker")


def test_one_word_of_a_long_clause_means_no_memory():
    told = Note("The savings were eaten by the broken wheels and pedals of spring.")
    assert not infer_relationship(Note("Broken chains on 17 bikes in April."), told).accepted
    told = Note("The savings were eaten by the broken chains of spring.")
    assert infer_relationship(Note("Broken chains on 17 bikes in April."), told).accepted


def test_few_words_of_a_stated_cause_are_enough_where_the_pair_is_likely():
    days = iter(range(2, 28))
    notes = [Note(one.text, one.uid, datetime(2026, 2, next(days))) for one in reversed(story())]
    notes.append(Note("The permit was granted at last.", "a0", datetime(2026, 3, 2)))
    stated = [*notes, Note("The fair went ahead, since the permit was there.", "b1", datetime(2026, 3, 3))]
    assert accepted_edges(stated) == {("a0", "b1", Relation.ENABLES, Direction.FORWARD)}
    supposed = [*notes, Note("Perhaps the fair went ahead since the permit was there.", "b1", datetime(2026, 3, 3))]
    assert accepted_edges(supposed) == set()


def test_a_ticket_means_the_memory_that_begins_with_it():
    notes = story(
        "Updates need 300 KB of flash. FL-81 asks to shrink the log buffer.",
        "FL-81 is open: nobody else knows the buffer code.",
        "Version 2 is waiting for FL-81.",
    )
    assert accepted_edges(notes) == {("b1", "c2", Relation.BLOCKS, Direction.FORWARD)}


def test_a_sentence_that_begins_with_so_concludes_from_the_one_before():
    (one,) = statements("The filter is clogged. So we stopped the pump.")
    assert (one.cause, one.told_by) == ("The filter is clogged", ("cause",))


def test_what_works_makes_possible_and_what_does_not_causes():
    (works,) = statements("Merged the three branches at last, the main branch being green.")
    (lacks,) = statements("Merging stopped, the main branch being red.")
    assert (works.relation, lacks.relation) == (Relation.ENABLES, Relation.CAUSES)


def test_a_clause_means_the_memory_of_the_same_state():
    notes = [
        Note("The roof clamps are missing.", "a"),
        Note("The roof clamps arrived.", "b"),
        Note("We can build the roof because the roof clamps are here.", "c"),
    ]
    found = {(pair.first, pair.second) for pair, verdict in read_relations(notes, [], ["c"]) if verdict.accepted}
    assert found == {("b", "c")}


@pytest.mark.parametrize("cue", ["because of", "BECAUSE OF"])
def test_a_cue_is_quoted_as_written_whatever_its_case(cue):
    (told,) = statements(f"The depot in İZMİR was closed {cue} the flooded ramp.")
    assert (told.cue, told.cause) == (cue, "the flooded ramp")


def test_a_part_of_an_identifier_states_nothing():
    assert statements("PDFQUILL_ALLOW_INCLUDE=0 in production, also after the upgrade.") == []
    assert statements("The flag allows includes in production.") != []


def test_loose_words_convince_or_say_nothing():
    """They also tell of time and manner; as proposals they would waste a reviewer's time."""
    notes = [
        Note("Problem: LockTimeout is raised too early on slow disks.", "a"),
        Note("Insight: LockTimeout in lock.py:304 counts seconds, not minutes.", "b"),
        Note("Decision: we keep api/lock.py as it is. Nobody dares to touch it.", "c"),
    ]
    assert [verdict for _, verdict in read_relations(notes, [], ["a", "b", "c"]) if verdict.causal] == []


@pytest.mark.parametrize(
    ("cause", "effect"),
    [
        ("The pump of the cellar was replaced in March.", "No flooded floor any more since replacing the cellar pump."),
        ("The new filter for the pump is in.", "The new filter for the pump did the trick, no more wet floor."),
        ("The gym heating is broken.", "Training is cancelled. The gym heating is broken."),
        ("地下室のポンプを交換した。", "地下室のポンプを交換したら、床が濡れなくなった。"),
    ],
)
def test_words_that_only_hint_at_a_cause_are_proposed(cause, effect):
    ((pair, verdict),) = read_relations([Note(cause, "a"), Note(effect, "b")], [], ["b"])
    assert (pair.first, verdict.relation, verdict.accepted) == ("a", CAUSES, False)


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("There we have the wet floor explained.", "the wet floor explained"),
        ("That answers the riddle of the wet floor.", "the wet floor"),
        ("The wet floor is just the consequence.", "The wet floor"),
    ],
)
def test_a_sentence_may_say_that_it_explains_another_memory(text, effect):
    (told,) = statements(text)
    assert (told.relation, told.effect, told.told_by) == (CAUSES, effect, ("effect",))


@pytest.mark.parametrize(
    ("text", "relation", "cause"),
    [
        ("It took a new pump to dry the cellar.", ENABLES, "a new pump to dry the cellar"),
        ("The wet floor has to do with the leaking pump.", CAUSES, "the leaking pump"),
        ("The fair was cut short by the storm.", CAUSES, "the storm"),
        ("The bottleneck is the old crane.", BLOCKS, "the old crane"),
        ("人手不足に阻まれて、修理が進まない。", BLOCKS, "人手不足"),
        ("不良は増えた。刃の摩耗に端を発する。", CAUSES, "刃の摩耗"),
        ("新しい看板に助けられ、客が増えた。", ENABLES, "新しい看板"),
    ],
)
def test_more_ways_to_state_a_cause_are_read(text, relation, cause):
    assert (relation, cause, True) in [(one.relation, one.cause, "cause" in one.told_by) for one in statements(text)]


def test_what_broke_down_broke_nothing():
    assert [one for one in statements("The heating of the gym broke down.") if "cause" in one.told_by] == []
    assert [one.effect for one in statements("The heating broke the gym floor.")] == ["the gym floor"]


def test_common_words_weigh_little():
    assert terms("old lists") == {"old": 0.5, "list": 0.5}
    notes = [Note("The list is on the wall.", "a"), Note("Mails come late because of the list.", "b")]
    assert [verdict for _, verdict in read_relations(notes, [], ["a", "b"]) if verdict.accepted] == []


def test_only_what_is_awaited_means_the_memory_that_it_is_wanting():
    memories = Memories([Note("The crane of hall four is broken.", "a"), Note("We wait.", "b")])
    share = {
        awaited: memories.meant_by("the crane of hall four is fixed", "b", lambda _: True, awaited=awaited).share
        for awaited in (True, False)
    }
    assert share[True] > 0.6
    assert share[False] < 0.5 * share[True]
    notes = [Note("The crane of hall four is broken.", "a"), Note("We cannot load until the crane is fixed.", "b")]
    ((_, verdict),) = read_relations(notes, [], ["b"])
    assert (verdict.relation, verdict.accepted) == (BLOCKS, True)
