"""Showing what the semantic searches find."""

from librarian.cli.display import table
from librarian.cli.items import caption, shortened
from librarian.cli.runtime import say
from librarian.cli.search import explained
from librarian.contracts.semantic import (
    ChunkResult,
    FactResult,
    MemoryResult,
    MessageResult,
    SemanticSearchOutput,
)


def show(found: SemanticSearchOutput) -> None:
    """Print the hits as a table, with the evidence of facts, and the remarks below."""
    rows = [(_similarity(hit.similarity_score), _item(hit), _text(hit)) for hit in found.results]
    if rows:
        table(("similarity", "item", "text"), rows, ruled=True)
    else:
        say("Nothing similar is known.")
    if found.threshold is not None:
        say(f"threshold {found.threshold:g} (step {found.iterations})")
    for remark in [f"{arm}: {state}" for arm, state in found.arms.items() if state != "ok"] + found.notes:
        say(remark)


def _similarity(score: float | None) -> str:
    return "" if score is None else f"{score:.2f}"


def _item(hit: FactResult | MessageResult | MemoryResult | ChunkResult) -> str:
    match hit:
        case FactResult():
            return caption(hit.uid, "fact", {"subject": hit.subject}, hit.valid_from)
        case MessageResult():
            return caption(hit.uid, "message", {"author_name": hit.author_name}, hit.sent_at)
        case MemoryResult():
            return caption(hit.uid, "memory", {"agent": hit.agent}, hit.occurred_at)
        case ChunkResult():
            return caption(hit.uid, "file_chunk", {"path": hit.path}, None)


def _text(hit: FactResult | MessageResult | MemoryResult | ChunkResult) -> str:
    lines = [shortened(hit.content)]
    if isinstance(hit, FactResult):
        lines += [f"  {source.author_name or 'from'}: {shortened(source.content)}" for source in hit.evidence]
    if hit.explanation is not None:
        lines += ["", *explained(hit.explanation)]
    return "\n".join(lines)
