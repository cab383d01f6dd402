"""Worlds of questions, ranked in memory: the results of the product's search, in seconds and without a graph.

A world holds rows in the form of `POST /v1/items`, and cases: a question with its expected hits (README.md). Candidates
come from BM25, the exact cosines of the default encoder, linear fusion, the judgement of answers, the gate, thresholds
and duplicates, as in `retrieval.pipeline`, which reads a namespace of this size whole.
"""

import asyncio
import hashlib
import json
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from graph.types import Kind, Noise
from librarian.base.settings.settings import Settings
from librarian.runtime.assembly import open_encoder
from librarian.search.contracts import Cause, MemoryHit
from retrieval.answering import Judgement, Verdict, best_of
from retrieval.calibration import calibrated, probe_noise
from retrieval.distinctive import distinctive, holds_distinctive
from retrieval.encoders.language_probe import encode_probes
from retrieval.evaluation.bm25 import Bm25
from retrieval.extractive import extracts, supporting
from retrieval.fusion import Ranking
from retrieval.judging import READ_CHARS, candidate_of, turns_of
from retrieval.jury import Candidate
from retrieval.linear import Pool, default_weights, linear_fusion
from retrieval.names import authors_named, without_names
from retrieval.passages import embedding_text, readable
from retrieval.pipeline import LEAST_SUPPORT, LEAST_SUPPORT_BESIDE, LEAST_SUPPORT_UNREAD, NEARLY_BEST
from retrieval.readings import past_asked
from retrieval.sentences import Passage, terms
from retrieval.signals import Traits, query_traits
from retrieval.text import keyword_text, language
from retrieval.types import KEYWORD

RANKED = ("relevant", "search", "search_all")
"""Requests to a world that return hits."""

ASKED = (*RANKED, "answer")
"""All requests to a world; an answer is made from the hits of `relevant`."""

LIMITS = {"relevant": 30, "answer": 30, "search": 10, "search_all": 10}
FLOOR = 0.35
"""The lowest step of the adaptive threshold, the default of `search_all`."""

_UNANSWERABLE = 5
_NO_ANSWER = frozenset({Verdict.COMMANDS, Verdict.KNOWS_NOT, Verdict.REPEATS})
_KINDS_OF_MEMORY = frozenset({"message", "memory", "fact"})


@dataclass(frozen=True, slots=True)
class Case:
    """A question of a world with its candidates and its expected hits."""

    world: str
    name: str
    about: str
    ask: str
    query: str
    now: datetime
    expect: Mapping[str, Any]
    candidates: Sequence[Candidate] = field(repr=False)
    identities: Mapping[str, object] = field(repr=False)
    narrow: bool = False


def hits(case: Case, judgements: Sequence[Judgement]) -> list[str]:
    """Return the uids that a user gets, best first."""
    found = {candidate.uid: candidate for candidate in case.candidates}
    read = language(case.query) == "en"
    if not case.narrow and not any(
        judgement.support >= (LEAST_SUPPORT if read else LEAST_SUPPORT_UNREAD) for judgement in judgements
    ):
        return []
    exact, least = [distinctive(case.query)], NEARLY_BEST * best_of(judgements)
    order = sorted(judgements, key=lambda judgement: (-judgement.score, judgement.uid))
    if case.ask in ("relevant", "answer"):
        order.sort(key=lambda judgement: judgement.verdict in _NO_ANSWER)
    given: dict[object, str] = {}
    for judgement in order:
        candidate = found[judgement.uid]
        below = case.ask == "search_all" and candidate.similarity is not None and candidate.similarity < FLOOR
        if not case.narrow and judgement.support < LEAST_SUPPORT_BESIDE and judgement.score < least:
            continue
        if judgement.replaced or (below and not holds_distinctive(f"{candidate.head} {candidate.text}", exact)):
            continue
        given.setdefault(case.identities[judgement.uid], judgement.uid)
    return list(given.values())[: LIMITS[case.ask]]


def faults(case: Case, judgements: Sequence[Judgement]) -> list[str]:
    """Return the expectations of a case that the user's results do not meet."""
    given = hits(case, judgements)
    return _answer_faults(case, given, judgements) if case.ask == "answer" else hit_faults(case, given)


def _answer_faults(case: Case, given: Sequence[str], judgements: Sequence[Judgement]) -> list[str]:
    """Return the faults of an answer without a language model: of its quotes from the hits `given`."""
    known = {candidate.uid: candidate for candidate in case.candidates}
    judged = {judgement.uid: judgement for judgement in judgements}
    evidence = supporting([_hit(known[uid], judged[uid]) for uid in given], case.query, case.now)
    if not evidence or case.expect.get("none"):
        return [] if bool(evidence) != bool(case.expect.get("none")) else ["refused" if not evidence else "not refused"]
    quoted = extracts(evidence, case.query, case.now)
    text = "\n".join(f"{part.text} {evidence[part.hit].author_name}" for part in quoted).casefold()
    cited = {evidence[part.hit].uid for part in quoted}
    found = [f"lacks {part!r}" for part in case.expect.get("answer_has", []) if part.casefold() not in text]
    found += [f"has {part!r}" for part in case.expect.get("answer_has_not", []) if part.casefold() in text]
    return found + [f"cites {sorted(cited)}" for uid in case.expect.get("cites", []) if uid not in cited]


def _hit(candidate: Candidate, judgement: Judgement) -> MemoryHit:
    return MemoryHit(
        uid=candidate.uid,
        kind="fact" if candidate.is_fact else "message",
        content=candidate.text,
        score=candidate.similarity or 0.0,
        author_name=candidate.head or None,
        sent_at=candidate.when,
        superseded_by=judgement.outdated_by,
        verdict=judgement.verdict.value,
        support=judgement.support,
        relevance=judgement.score,
        passage=judgement.sentence,
        led_by=[Cause(uid=uid, kind="message", type="CAUSES", text="", confidence=1.0) for uid in candidate.causes],
    )


def hit_faults(case: Case, given: Sequence[str]) -> list[str]:
    """Return the expectations of a case that the hits `given` do not meet."""
    place = {uid: rank for rank, uid in enumerate(given)}
    expect, found = case.expect, []
    if "first" in expect and (not given or given[0] not in expect["first"]):
        found.append(f"first is {list(given[:1])}, not one of {expect['first']}")
    within = expect.get("within", {"uids": [], "k": 0})
    missing = [uid for uid in within["uids"] if place.get(uid, len(given)) >= within["k"] or uid not in place]
    if missing:
        found.append(f"not within the first {within['k']}: {missing}; got {list(given[: within['k']])}")
    for before, after in expect.get("before", []):
        if before not in place or place.get(after, len(given)) < place[before]:
            found.append(f"{before} (at {place.get(before)}) is not before {after} (at {place.get(after)})")
    found += [f"should not be there: {uid}" for uid in expect.get("absent", []) if uid in place]
    if expect.get("none") and given:
        found.append(f"something was found: {list(given[:3])}")
    return found


def worlds_of(folder: Path) -> list[dict[str, Any]]:
    """Return the worlds of a folder, in order of their names."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


def conversations_of(folder: Path) -> list[dict[str, Any]]:
    """Return the conversations of a folder in the form of LoCoMo (docs/search-quality.md) as worlds of questions."""
    turns, questions = (
        [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]
        for name in ("conversations.jsonl", "questions.jsonl")
    )
    worlds = []
    for name in dict.fromkeys(turn["sample_id"] for turn in turns):
        items = [_turn(turn, number) for number, turn in enumerate(turns) if turn["sample_id"] == name]
        cases = [
            {
                "id": asked["question_id"],
                "about": "conversation",
                "ask": "search",
                "query": asked["question"],
                "expect": {"within": {"uids": asked["evidence"], "k": 10}},
            }
            for asked in questions
            if asked["sample_id"] == name and asked["evidence"] and asked["category"] != _UNANSWERABLE
        ]
        now = max(item["sent_at"] for item in items)
        worlds.append({"name": name, "language": "en", "now": now, "items": items, "cases": cases})
    return worlds


def _turn(turn: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return a turn as a message; `number` counts all turns, so that neighbours are adjacent."""
    caption = f" [{turn['image_caption']}]" if turn.get("image_caption") else ""
    when = turn["session_datetime_iso"]
    return {
        "kind": "message",
        "uid": turn["dia_id"],
        "text": turn["text"] + caption,
        "author": turn["speaker"],
        "conversation_id": turn["sample_id"],
        "session_id": str(turn["session"]),
        "position": number,
        "sent_at": when if when.endswith("Z") or "+" in when else f"{when}Z",
    }


def cases_of(worlds: Sequence[Mapping[str, Any]], cache: Path) -> list[Case]:
    """Return the cases of `worlds` that ask for hits; vectors are kept in the file `cache` (npz)."""
    known = dict(np.load(cache)) if cache.exists() else {}
    if asyncio.run(_encode(worlds, known)):
        np.savez(cache, **known)
    mean, deviation = known["noise"].tolist()
    vectors = Vectors(Noise(mean, deviation, sampled=0), known)
    return [case for world in worlds for case in _world_cases(world, vectors)]


@dataclass(frozen=True, slots=True)
class Vectors:
    """Unit vectors by text, those of queries by `query: text`, and the noise of the encoder's English probes."""

    noise: Noise
    known: Mapping[str, np.ndarray] = field(repr=False)

    def of(self, text: str) -> np.ndarray:
        """Return the vector of a text."""
        return self.known[_key(text)]


async def _encode(worlds: Sequence[Mapping[str, Any]], known: dict[str, np.ndarray]) -> bool:
    """Add the vectors of all texts of `worlds` to those `known`; return whether any were missing."""
    passage_texts, queries = _texts(worlds)
    new = [text for text in passage_texts if _key(text) not in known]
    asked = [text for text in queries if _key(f"query: {text}") not in known]
    if not new and not asked and "noise" in known:
        return False
    async with open_encoder(Settings.from_env()) as encoder:
        if encoder is None:
            raise SystemExit("an encoder is needed: LIBRARIAN_ENCODER is none")
        probes = (await encode_probes(encoder, ["en"]))["en"]
        noise = probe_noise(probes.queries, probes.passages)
        known["noise"] = np.array([noise.mean, noise.deviation])
        known |= dict(zip(map(_key, new), await encoder.encode_passages(new), strict=True))
        keys = [_key(f"query: {text}") for text in asked]
        known |= dict(zip(keys, await encoder.encode_query(asked), strict=True))
    return True


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _texts(worlds: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """Return all passages and all queries for the encoder."""
    items = [item for world in worlds for item in world["items"] if item["kind"] != "edge"]
    texts = [text for item in items for text in _encoded(item)]
    queries = []
    for world in worlds:
        authors = _authors(world["items"])
        for case in world["cases"]:
            query = unicodedata.normalize("NFKC", case["query"])
            queries += [query, without_names(query, authors_named(query, authors))]
    return list(dict.fromkeys(texts)), list(dict.fromkeys(queries))


def _encoded(item: Mapping[str, Any]) -> list[str]:
    text = _text(item)
    return [embedding_text(_author(item), part) for part in readable(text, ["en"])[0]]


def _text(item: Mapping[str, Any]) -> str:
    """Return the text of an item: a fact without its own text is built from its parts."""
    parts = (item.get("subject"), item.get("predicate"), item.get("object"))
    return str(item.get("text") or item.get("content") or " ".join(part for part in parts if part))


def _authors(items: Sequence[Mapping[str, Any]]) -> list[str]:
    return sorted({item["author"] for item in items if item.get("author")}, key=len, reverse=True)


def _world_cases(world: Mapping[str, Any], vectors: Vectors) -> list[Case]:
    replaced = {uid for item in world["items"] for uid in item.get("supersedes", [])}
    items = [item for item in world["items"] if item["kind"] != "edge"]
    begins = {uid: item.get("valid_from") for item in items for uid in item.get("supersedes", [])}
    for item in items:
        item["text"] = _text(item)
        if item["kind"] == "fact" and not item.get("valid_to"):
            item["valid_to"] = begins.get(item["uid"])
    keywords: dict[tuple[str, ...], Bm25] = {}
    found = []
    for case in world["cases"]:
        if case["ask"] in ASKED:
            own = [item for item in items if _passes(item, case, replaced, str(world["now"]))]
            uids = tuple(item["uid"] for item in own)
            if uids not in keywords:
                keywords[uids] = Bm25([_keywords(item) for item in own], lambda text: sorted(terms(text)))
            found.append(_case(world, case, own, keywords[uids], vectors))
    return found


def _passes(item: Mapping[str, Any], case: Mapping[str, Any], replaced: Collection[str], now: str) -> bool:
    """Return whether an item matches the case's filters: for facts, those that hold at the time."""
    if case["ask"] in ("relevant", "answer") and item["kind"] not in _KINDS_OF_MEMORY:
        return False
    wanted = (case.get("body") or {}).get("filters") or {}
    if "as_of" in wanted and item["kind"] == "fact":
        return (item.get("valid_from") or "") <= wanted["as_of"] < (item.get("valid_to") or "9")
    if item["uid"] in replaced and not _held_then(item, case, now):
        return False
    if "kinds" in wanted and item["kind"] not in wanted["kinds"]:
        return False
    if "occurred_from" in wanted and (item.get("sent_at") or item.get("occurred_at") or "") < wanted["occurred_from"]:
        return False
    if "occurred_to" in wanted and (item.get("sent_at") or item.get("occurred_at") or "") > wanted["occurred_to"]:
        return False
    plain = {"conversation_id", "session_id", "person_id", "agent", "domain"}
    return all(item.get(name) == value for name, value in wanted.items() if name in plain)


def _held_then(item: Mapping[str, Any], case: Mapping[str, Any], now: str) -> bool:
    """Return whether a fact held in the past that the case asks about, as in retrieval.pipeline.of_its_time."""
    asked = past_asked(case["query"], datetime.fromisoformat((case.get("body") or {}).get("now") or now))
    begins, ends = _time(item.get("valid_from")), _time(item.get("valid_to"))
    return asked is not None and (begins is None or begins < asked[1]) and (ends is None or asked[0] < ends)


def _case(
    world: Mapping[str, Any],
    case: Mapping[str, Any],
    items: Sequence[Mapping[str, Any]],
    keywords: Bm25,
    vectors: Vectors,
) -> Case:
    query = unicodedata.normalize("NFKC", case["query"])
    body = case.get("body") or {}
    filters = body.get("filters") or {}
    now = _time(filters.get("as_of") or body.get("now") or world["now"])
    assert now is not None
    pool, similar = _pool(query, _authors(world["items"]), items, keywords, vectors)
    fused = linear_fusion([pool], default_weights())
    turns = turns_of(pool.traits)
    causes = _causes(world)
    candidates = [
        candidate_of(entry, pool.traits[entry.uid], turns, similar.get(entry.uid), causes.get(entry.uid, ()))
        for entry in fused
    ]
    identities = {item["uid"]: _identity(item) for item in items}
    return Case(
        world["name"],
        case["id"],
        case["about"],
        case["ask"],
        query,
        now,
        case["expect"],
        candidates,
        identities,
        narrow=bool(filters.keys() & {"conversation_id", "session_id", "person_id"}),
    )


def _pool(
    query: str, authors: Sequence[str], items: Sequence[Mapping[str, Any]], keywords: Bm25, vectors: Vectors
) -> tuple[Pool, Mapping[str, float]]:
    """Return the candidates of the arms, and the calibrated similarity of those that have one."""
    named = authors_named(query, authors)
    ranks, judged = {}, {}
    if language(query) == "en":
        ranks = _cosines(without_names(query, named), items, vectors)
        judged = _cosines(query, items, vectors)
    keyword = keywords.scores(query)
    top = max(keyword.values(), default=1.0)
    traits = {
        item["uid"]: _traits(item, ranks.get(item["uid"]), keyword.get(number, 0.0) / top)
        for number, item in enumerate(items)
    }
    order = sorted((uid for uid in traits if traits[uid].keyword > 0), key=lambda uid: -traits[uid].keyword)
    ranking = Ranking(0, KEYWORD, order, [traits[uid].keyword for uid in order])
    similar = {uid: round(calibrated(cosine, vectors.noise), 4) for uid, cosine in judged.items()}
    return Pool(0, [ranking], traits, query_traits(query, named), whole=True), similar


def _cosines(query: str, items: Sequence[Mapping[str, Any]], vectors: Vectors) -> dict[str, float]:
    asked = vectors.of(f"query: {query}")
    return {
        item["uid"]: max(float(vectors.of(text) @ asked) for text in encoded)
        for item in items
        if (encoded := _encoded(item))
    }


def _traits(item: Mapping[str, Any], cosine: float | None, keyword: float) -> Traits:
    when = _time(item.get("sent_at") or item.get("occurred_at") or item.get("valid_from"))
    subject, predicate = item.get("subject"), item.get("predicate")
    author = _author(item)
    return Traits(
        cosine=cosine,
        keyword=keyword,
        author=author,
        conversation=item.get("conversation_id"),
        session=item.get("session_id"),
        position=item.get("position"),
        day=None if when is None else when.date(),
        asks=item["text"].rstrip().endswith(("?", "？")),
        kind=Kind(item["kind"]),
        when=when,
        ends=_time(item.get("valid_to")),
        attribute=(subject.casefold(), predicate.casefold()) if subject and predicate else None,
        passage=Passage(author or "", item["text"][:READ_CHARS]),
    )


def _author(item: Mapping[str, Any]) -> str | None:
    return item.get("author") if item["kind"] == "message" else None


def _keywords(item: Mapping[str, Any]) -> str:
    return keyword_text(item["text"], author=_author(item), when=_time(item.get("sent_at")))


def _identity(item: Mapping[str, Any]) -> object:
    """Return the identity that makes two items one hit, as in retrieval.dedupe."""
    if item["kind"] == "fact" and item.get("object"):
        about = item.get("person_id") or item.get("subject")
        return (about, item.get("fact_type"), item["object"], item.get("relationship_type"))
    text = " ".join(unicodedata.normalize("NFKC", item["text"]).casefold().split())
    return (item["kind"], _author(item), text)


def _causes(world: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return effect -> its causes, over four edges at most."""
    direct: dict[str, list[str]] = {}
    for item in world["items"]:
        if item["kind"] == "edge" and item.get("type") in ("CAUSES", "ENABLES"):
            direct.setdefault(item["target"], []).append(item["source"])
    return {effect: list(dict.fromkeys(_chain(effect, direct, 4))) for effect in direct}


def _chain(effect: str, direct: Mapping[str, Sequence[str]], steps: int) -> Iterator[str]:
    for cause in direct.get(effect, ()) if steps else ():
        yield cause
        yield from _chain(cause, direct, steps - 1)


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
