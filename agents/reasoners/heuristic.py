"""Reasoning without a language model: what kind of thing an item asks for, which words it shares with a text, and which
documents lead to each other.

A short item ("definition", "interpretation_0_1") is met by one sentence of its kind near the topic (items.py); a phrase
or a question by as many passages as it takes together (chain.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agents.limits import Budget
from agents.queries import fresh
from agents.reasoners import chain
from agents.reasoners.chain import Asked, Link, Model
from agents.reasoners.items import Topic, Wanted, supports
from agents.reasoners.kinds import kind_of, without_kinds
from agents.reasoners.passages import Passage, read_all, sentences, share, weights_of
from agents.reasoners.scoring import Scoring
from agents.types import Evaluation, EvidenceTask, Findings, Need, Support

PLANNED = 4
"""Queries of a plan."""

REFINED = 2
"""Queries of a refinement."""

# Terms from which on an item is a phrase that can be searched for by itself.
_PHRASE = 4
# Of everything seen, what is read closely: reasoning is to take milliseconds.
_READ_CLOSELY = 30
_ENCODED = 4
_ENCODED_CHARS = 300
# Calibrated similarity from which on texts have something in common (retrieval.calibration).
_RELATED = 0.35
_QUERY_CHARS = 400


@dataclass(frozen=True, slots=True)
class HeuristicReasoner:
    """Weighs texts by `scoring`, and sets of them by `models` (chain.py); keeps nothing between calls."""

    scoring: Scoring
    models: Mapping[str, Model] = field(default_factory=chain.models, repr=False)

    @property
    def name(self) -> str:
        """The kind."""
        return "heuristic"

    async def plan(self, task: EvidenceTask, _budget: Budget, /) -> Sequence[str]:
        """A query for each phrase or question among the items, else the question; short items are looked for in what
        that finds, and searched for when they are missing, or at once where no refinement may follow.
        """
        phrases = [item for item in task.target_items if self._is_phrase(item)]
        queries = phrases or [task.user_query]
        if not task.max_retries:
            short = [item for item in task.target_items if item not in phrases]
            queries = [*queries, *(self._queries(task, item)[0] for item in short)]
        return queries[:PLANNED]

    async def evaluate(self, task: EvidenceTask, findings: Findings, _budget: Budget, /) -> Evaluation:
        """The best sentences for short items, the smallest probable set for others.

        Words decide; similarity is asked only where they find nothing for an item, as encoding takes most of the time.
        """
        passages = self._shortlist(task, findings)
        evaluation = self._judged(task, passages, {})
        found = {need.item for need in evaluation.needs if need.supports}
        if not passages or found.issuperset(task.target_items):
            return evaluation
        similar = await self._similar(task, passages)
        return self._judged(task, passages, similar) if similar else evaluation

    async def refine(
        self, task: EvidenceTask, findings: Findings, evaluation: Evaluation, _budget: Budget, /
    ) -> Sequence[str]:
        """For each missing item the first of its queries that was not asked, what its evidence leads to before all."""
        leads = {need.item: need.name for need in evaluation.needs if need.name and not need.supports}
        queries: list[str] = []
        for item in evaluation.missing(task.target_items):
            possible = [leads[item]] if item in leads else []
            possible += self._queries(task, item)
            queries.extend(fresh(possible, (*findings.queries, *queries), most=1, chars=_QUERY_CHARS))
        return queries[:REFINED]

    def _is_phrase(self, item: str) -> bool:
        kind, _ = kind_of(item)
        return kind is None and (self.scoring.is_question(item) or len(self.scoring.terms(item)) >= _PHRASE)

    def _shortlist(self, task: EvidenceTask, findings: Findings) -> list[Passage]:
        """What to read closely: ranked high by a search, or with many words of the task."""
        passages = read_all(findings, (task.user_query, *task.target_items), self.scoring.terms)
        wanted = frozenset(self.scoring.terms(" ".join((task.user_query, *task.target_items))))
        held = [one.held for one in passages]
        weights = weights_of(wanted.union(*held), held)
        passages.sort(key=lambda one: -(one.rank + share(wanted, one.held, weights)))
        return passages[:_READ_CLOSELY]

    def _judged(self, task: EvidenceTask, passages: Sequence[Passage], similar: Mapping[int, float]) -> Evaluation:
        asked = self._topic(task.user_query)
        held = [one.held for one in passages]
        wanted = {item: Wanted.of(item, self.scoring.terms) for item in task.target_items if not self._is_phrase(item)}
        weights = weights_of(asked.union(*held, *(one.terms for one in wanted.values())), held)
        topic = Topic.of(asked, passages, weights, similar)
        needs: list[Need] = []
        for item in task.target_items:
            if item in wanted:
                needs.append(Need(item, "", tuple(supports(wanted[item], topic, passages, self.scoring.terms))))
            else:
                needs.extend(self._together(item, passages, similar))
        return Evaluation(tuple(needs))

    def _together(self, item: str, passages: Sequence[Passage], similar: Mapping[int, float]) -> list[Need]:
        """What a phrase or a question needs: each passage that answers it together with the others, and what they lack.

        A set that starts with a passage that has nothing to do with the question is no evidence.
        """
        asked = Asked.of(item, passages, self.scoring)
        links = chain.grow(asked, self.models[chain.kind_of_texts(passages)])
        if not links or not (asked.terms & links[0].passage.held or similar.get(links[0].passage.index, 0) >= _RELATED):
            return [Need(item, "")]
        needs = [Need(item, "", (_support(asked, link),)) for link in links]
        members = [link.passage for link in links]
        if not chain.settled(asked, links):
            needs.append(Need(item, chain.lead_query(asked, members)))
        return needs

    def _topic(self, question: str) -> frozenset[str]:
        """The words for what a question is about; all its words where it only names kinds."""
        return frozenset(self.scoring.terms(without_kinds(question)) or self.scoring.terms(question))

    async def _similar(self, task: EvidenceTask, passages: Sequence[Passage]) -> dict[int, float]:
        """How near the best few passages are to the question in meaning; empty when nothing can say."""
        if self.scoring.similarity is None:
            return {}
        read = passages[:_ENCODED]
        rows = await self.scoring.similarity([task.user_query], [one.text[:_ENCODED_CHARS] for one in read])
        return {one.index: near for one, near in zip(read, rows[0], strict=True)} if rows else {}

    def _queries(self, task: EvidenceTask, item: str) -> list[str]:
        """Queries for an item, the best first: for a short one the question with words for its kind."""
        kind, words = kind_of(item)
        extra = " ".join(words)
        about = f"{task.user_query} {task.context}" if task.context else task.user_query
        if self._is_phrase(item):
            return [item, f"{item} {task.context}"] if task.context else [item]
        if kind is None:
            return [f"{task.user_query} {extra}", extra, f"{about} {extra}"]
        asked = kind.asked_in(task.user_query)
        return [*(f"{task.user_query} {extra} {ask}" for ask in asked), f"{about} {extra} {asked[0]}"]


def _support(asked: Asked, link: Link) -> Support:
    return Support(link.passage.index, quote(asked, link.passage), link.probability)


def quote(asked: Asked, passage: Passage) -> str:
    """The sentence of `passage` that holds most of what was asked; of a heading and a text, one of the text."""
    body = passage.body
    return max(sentences(body), key=lambda one: share(asked.terms, frozenset(asked.scoring.terms(one)), asked.weights))
