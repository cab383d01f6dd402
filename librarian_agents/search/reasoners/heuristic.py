"""Reasoning without a language model: target items, the passages that hold them, and links between documents.

An item is met by one passage that holds it about the subject of the question (items.py); an item that repeats the
question, or is as long as one, by as many passages as it takes together (chain.py).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from librarian_agents.search.conditions import StopRule
from librarian_agents.search.limits import Budget
from librarian_agents.search.ports import Scoring
from librarian_agents.search.queries import fresh
from librarian_agents.search.reasoners import chain
from librarian_agents.search.reasoners.chain import Link, SetModel, SetQuestion
from librarian_agents.search.reasoners.items import ItemModel, Rated, item_model, rate
from librarian_agents.search.reasoners.passages import Passage, plain, read_all, sentences, share, weights_of
from librarian_agents.search.reasoners.questions import TaskReading, holds_japanese, is_japanese, queries_for, read_task
from librarian_agents.search.reasoners.readings import PassageReading, read_passages
from librarian_agents.search.types import Evaluation, EvidenceTask, Findings, Need, Support

QUERIES_A_ROUND = 4
"""Queries per plan or refinement."""

_QUERIES_FOR_THE_LAST = 2
"""Queries per round for the only remaining item."""

# Minimum terms of an item that is a question of its own, which may take several texts.
_WHOLE_QUESTION = 9
# Maximum passages read closely: reasoning must take only milliseconds.
_READ_CLOSELY = 40
_ENCODED = 4
_ENCODED_CHARS = 300
# Minimum calibrated similarity of related texts (retrieval.calibration).
_RELATED = 0.35
_QUERY_CHARS = 400
# A passage much less likely than the best is no replacement for it, even if that would make a smaller set.
_NEARLY = 0.8


@dataclass(frozen=True, slots=True)
class HeuristicReasoner:
    """Scores texts by `scoring`, items by `items` (items.py) and sets by `models` (chain.py); keeps no state."""

    scoring: Scoring
    models: Mapping[str, SetModel] = field(default_factory=chain.models, repr=False)
    items: ItemModel = field(default_factory=item_model, repr=False)

    @property
    def name(self) -> str:
        """The kind."""
        return "heuristic"

    async def plan(self, task: EvidenceTask, _budget: Budget, /) -> Sequence[str]:
        """Return the first query of each item, up to the number per round."""
        return self._next_queries(task, task.target_items, Findings(), {})

    async def evaluate(self, task: EvidenceTask, findings: Findings, _budget: Budget, /) -> Evaluation:
        """Evaluate each item: the passages that hold it, or the smallest probable set for a question of its own.

        Words decide; similarity is used only if they find nothing for an item, as encoding takes most of the time.
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
        """Return the next query of each missing item, those from its evidence first.

        Items with the fewest queries come first, so that none starves.
        """
        leads = {need.item: need.name for need in evaluation.needs if need.name and not need.supports}
        open_items = {*evaluation.missing(task.target_items), *evaluation.unsure}
        items = [item for item in task.target_items if item in open_items]
        return self._next_queries(task, items, findings, leads)

    def _next_queries(
        self, task: EvidenceTask, items: Sequence[str], findings: Findings, leads: Mapping[str, str]
    ) -> list[str]:
        reading = read_task(task, self.scoring.terms)
        asked, foreign = findings.queries, _foreign(task, findings)
        waiting: list[tuple[int, Sequence[str]]] = []
        for item in items:
            possible = self._queries(task, reading, item, leads.get(item, ""), foreign=foreign)
            queries = fresh(possible, (), most=len(possible), chars=_QUERY_CHARS)
            left = fresh(queries, asked, most=len(queries), chars=_QUERY_CHARS)
            waiting.append((len(queries) - len(left), left))
        order = [rest for _, rest in sorted(waiting, key=lambda entry: entry[0])]
        if len(order) == 1:
            order *= _QUERIES_FOR_THE_LAST
        chosen: list[str] = []
        for rest in order:
            chosen.extend(fresh(rest, (*asked, *chosen), most=1, chars=_QUERY_CHARS))
        return chosen[:QUERIES_A_ROUND]

    def _queries(self, task: EvidenceTask, reading: TaskReading, item: str, lead: str, *, foreign: bool) -> list[str]:
        if self._is_question(task, item):
            return [query for query in (lead, item, f"{item} {task.context}" if task.context else "") if query]
        spec = next(spec for spec in reading.items if spec.item == item)
        return queries_for(spec, reading, task, self.scoring, foreign=foreign)

    def _is_question(self, task: EvidenceTask, item: str) -> bool:
        """Whether an item is the question itself, or one of its own of that length."""
        return plain(item) == plain(task.user_query) or len(self.scoring.terms(item)) >= _WHOLE_QUESTION

    def _shortlist(self, task: EvidenceTask, findings: Findings) -> list[Passage]:
        """Return the passages to read closely: ranked high by a search, or with many words of the task."""
        passages = read_all(findings, (task.user_query, *task.target_items), self.scoring.terms)
        wanted = frozenset(self.scoring.terms(" ".join((task.user_query, *task.target_items))))
        held = [passage.held for passage in passages]
        weights = weights_of(wanted.union(*held), held)
        passages.sort(key=lambda passage: -(passage.rank + share(wanted, passage.held, weights)))
        return passages[:_READ_CLOSELY]

    def _judged(self, task: EvidenceTask, passages: Sequence[Passage], similar: Mapping[int, float]) -> Evaluation:
        terms = self.scoring.terms
        reading = read_task(task, terms)
        texts = read_passages(passages, terms)
        rule = StopRule.of(task)
        needs: list[Need] = []
        likely: dict[str, float] = {}
        for spec, rated in zip(reading.items, self._rated(reading, texts, similar), strict=True):
            if self._is_question(task, spec.item):
                needs.extend(self._together(spec.item, passages, similar))
                continue
            needs.extend(self._references(spec.item, rated, rule))
            if needs[-1].supports:
                likely[spec.item] = rated[0].probability
        return Evaluation(tuple(needs), unsure=self._unsure(likely))

    def _rated(
        self, reading: TaskReading, texts: Sequence[PassageReading], similar: Mapping[int, float]
    ) -> list[list[Rated]]:
        return rate(reading, texts, self.items, self.scoring.answering, similar)

    def _unsure(self, likely: Mapping[str, float]) -> tuple[str, ...]:
        """Return the items that keep the joint probability of the covered ones below `sure`."""
        if math.prod(likely.values()) >= self.items.sure:
            return ()
        least = self.items.sure ** (1 / len(likely))
        return tuple(item for item, probability in likely.items() if probability < least)

    def _references(self, item: str, rated: Sequence[Rated], rule: StopRule) -> list[Need]:
        """Return the passages for an item: as many as the stop conditions require, each as a separate need."""
        if rule.specific and any(found.reading.passage.source for found in rated):
            rated = [found for found in rated if found.reading.passage.source]
        if rule.references == 1:
            return [Need(item, "", self._supports(rated))]
        likely = [found for found in rated if found.probability >= self.items.enough]
        return [Need(item, "", self._supports(likely[number : number + 1])) for number in range(rule.references)]

    def _supports(self, rated: Sequence[Rated]) -> tuple[Support, ...]:
        """Return the passages that are likely enough, and nearly as likely as the best."""
        if not rated:
            return ()
        least = max(self.items.enough, _NEARLY * rated[0].probability)
        return tuple(
            Support(found.reading.passage.index, found.sentence, round(found.probability, 4))
            for found in rated
            if found.probability >= least
        )

    def _together(self, item: str, passages: Sequence[Passage], similar: Mapping[int, float]) -> list[Need]:
        """Return a question's needs: each passage of its joint answer, and the missing part.

        A set that starts with an unrelated passage is no evidence.
        """
        question = SetQuestion.of(item, passages, self.scoring)
        links = chain.together(question, self.models)
        if not links or not (
            question.terms & links[0].passage.held or similar.get(links[0].passage.index, 0) >= _RELATED
        ):
            return [Need(item, "")]
        needs = [Need(item, "", (_support(question, link),)) for link in links]
        members = [link.passage for link in links]
        if not chain.settled(question, links):
            needs.append(Need(item, chain.lead_query(question, members)))
        return needs

    async def _similar(self, task: EvidenceTask, passages: Sequence[Passage]) -> dict[int, float]:
        """Return the similarity of the best few passages to the question; empty if unknown."""
        if self.scoring.similarity is None:
            return {}
        read = passages[:_ENCODED]
        rows = await self.scoring.similarity([task.user_query], [passage.text[:_ENCODED_CHARS] for passage in read])
        return {passage.index: near for passage, near in zip(read, rows[0], strict=True)} if rows else {}


def _foreign(task: EvidenceTask, findings: Findings) -> bool:
    """Whether searches found nothing in the language of the task."""
    japanese = is_japanese(task)
    return bool(findings.searches) and all(
        holds_japanese(candidate.text) != japanese for candidate in findings.candidates.values()
    )


def _support(question: SetQuestion, link: Link) -> Support:
    return Support(link.passage.index, quote(question, link.passage), link.probability)


def quote(question: SetQuestion, passage: Passage) -> str:
    """Return the sentence of `passage` that holds most of the question; from the text if there is also a heading."""
    terms = question.scoring.terms
    return max(
        sentences(passage.body), key=lambda each: share(question.terms, frozenset(terms(each)), question.weights)
    )
