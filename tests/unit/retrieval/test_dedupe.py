from typing import Any

from graph.item import item_of
from graph.types import Evidence, Kind
from retrieval.dedupe import deduplicate
from retrieval.types import ScoredItem


def scored(uid: str, kind: Kind, score: float, evidence: tuple[str, ...] = (), **properties: Any) -> ScoredItem:
    sources = [Evidence(source, source, None, source, None) for source in evidence]
    item = item_of({"namespace": "n", "uid": uid, "kind": kind, "text": uid, **properties}, sources)
    return ScoredItem(item, score, None, ())


FACT = {"person_id": "mia", "fact_type": "role", "fact_object": "platform", "relationship_type": "leads"}


def test_equal_facts_keep_the_best_and_all_evidence():
    hits = deduplicate(
        [scored("f1", Kind.FACT, 2, ("m1", "m2"), **FACT), scored("f2", Kind.FACT, 1, ("m2", "m3"), **FACT)]
    )
    assert [(hit.item.uid, hit.score, hit.duplicates) for hit in hits] == [("f1", 2, ("f2",))]
    assert [source.uid for source in hits[0].item.evidence] == ["m1", "m2", "m3"]


def test_facts_that_name_no_object_are_told_apart_by_their_text():
    bare = {**FACT, "fact_object": None}
    assert len(deduplicate([scored("f1", Kind.FACT, 2, **bare), scored("f2", Kind.FACT, 1, **bare)])) == 2


def test_equal_texts_of_one_author_and_kind_are_one_hit():
    hits = deduplicate(
        [
            scored("m1", Kind.MESSAGE, 4, text="Ship  it!", author_name="Mia"),
            scored("m2", Kind.MESSAGE, 3, text="ship it!", author_name="Mia"),
            scored("m3", Kind.MESSAGE, 2, text="Ship it!", author_name="Ken"),
            scored("k1", Kind.MEMORY, 1, text="Ship it!"),
        ]
    )
    assert [hit.item.uid for hit in hits] == ["m1", "m3", "k1"]


def test_facts_about_different_subjects_stay_apart():
    need = {"fact_object": "4 GB", "relationship_type": "needs"}
    hits = [scored("f1", Kind.FACT, 2, subject="export", **need), scored("f2", Kind.FACT, 1, subject="import", **need)]
    assert len(deduplicate(hits)) == 2


def test_a_relationship_among_the_attributes_tells_facts_apart():
    kin, work = (
        {**FACT, "relationship_type": None, "attributes": f'{{"relationship_type": "{kind}"}}'}
        for kind in ("sister", "business partner")
    )
    assert len(deduplicate([scored("f1", Kind.FACT, 2, **kin), scored("f2", Kind.FACT, 1, **work)])) == 2
