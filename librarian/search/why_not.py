"""Why a search does not show an item: repeats the search and finds the step that excluded the item."""

from dataclasses import replace

from graph.executor import Executor
from librarian.base.errors import InvalidInput
from librarian.base.settings.settings import SearchSettings
from librarian.items.reading import no_item
from librarian.runtime.reranking import Reranking
from librarian.search.contracts import ArmStandingOut, WhyNotInput, WhyNotOutput
from librarian.search.search import RankedHits, plan_search, run
from retrieval.pipeline import SearchPipeline
from retrieval.types import VECTOR
from retrieval.why_not import ArmStanding, Diagnosis, Verdict, diagnose


async def why_not(
    executor: Executor,
    pipeline: SearchPipeline,
    reranking: Reranking,
    namespace: str,
    query: WhyNotInput,
    settings: SearchSettings,
) -> WhyNotOutput:
    """Return the fate of one item in a search. Raises NotFound, also for an item of another namespace."""
    if query.namespaces is not None:
        raise InvalidInput(
            "an item is asked about in its own namespace", field="$.namespaces", remedy="Leave it out, and ask there."
        )
    plan = plan_search("search", namespace, query, settings, limit=query.limit)
    diagnosis = await diagnose(executor, pipeline, plan.request, query.uid)
    if diagnosis is None:
        raise no_item(namespace)
    found = await run(pipeline, reranking, plan)
    diagnosis = _as_shown(diagnosis, found, query.uid)
    return WhyNotOutput(
        namespace=namespace,
        uid=query.uid,
        verdict=diagnosis.verdict.value,
        explanation=_explanation(diagnosis, reranked=found.reranked),
        rank=diagnosis.rank,
        filters=list(diagnosis.filters),
        superseded_by=list(diagnosis.superseded_by),
        duplicate_of=diagnosis.duplicate_of,
        similarity_score=None if diagnosis.similarity is None else round(diagnosis.similarity, 4),
        threshold=diagnosis.threshold,
        arms=[_arm(standing) for standing in diagnosis.arms],
    )


def _as_shown(diagnosis: Diagnosis, found: RankedHits, uid: str) -> Diagnosis:
    """Return the diagnosis for the final hits, whose order a reranker may have changed."""
    ranks = {scored.item.uid: rank for rank, (scored, _) in enumerate(found.hits, start=1)}
    if uid in ranks:
        return replace(diagnosis, verdict=Verdict.FOUND, rank=ranks[uid])
    if diagnosis.verdict is Verdict.FOUND:
        return replace(diagnosis, verdict=Verdict.CUT_BY_LIMIT)
    return diagnosis


def _explanation(diagnosis: Diagnosis, *, reranked: bool) -> str:
    match diagnosis.verdict:
        case Verdict.FOUND:
            return f"It is found: hit {diagnosis.rank}."
        case Verdict.FILTERED:
            return f"It does not pass the filters: {', '.join(diagnosis.filters)}."
        case Verdict.SUPERSEDED:
            return f"{', '.join(diagnosis.superseded_by)} supersedes it; as_of finds what held at a time."
        case Verdict.DUPLICATE:
            return f"Hit {diagnosis.duplicate_of} says the same and stands for both."
        case Verdict.BELOW_THRESHOLD:
            similar = f"{diagnosis.similarity or 0.0:.2f}"
            if diagnosis.threshold is None:
                return f"Too little of the query speaks for it: its similarity is {similar}."
            return f"Its similarity {similar} does not reach the threshold {diagnosis.threshold}."
        case Verdict.CUT_BY_LIMIT:
            order = "before the reranker ordered them" if reranked else "in order"
            return f"The limit cuts it off: it is candidate {diagnosis.rank} {order}."
        case Verdict.NOT_EMBEDDED:
            return "It has no vector in the active space, and by its words too much fits better."
        case Verdict.OUTSIDE_POOL:
            return "No arm has it among its candidates: too much fits better."


def _arm(standing: ArmStanding) -> ArmStandingOut:
    return ArmStandingOut(
        query=standing.query,
        arm="vector" if standing.arm == VECTOR else "keyword",
        rank=standing.rank,
        score=None if standing.cosine is None else round(standing.cosine, 4),
        reason=standing.reason,
    )
