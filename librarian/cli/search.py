"""Search commands: `search`, the semantic searches by kind, `ask`, `relevant`, `context`, `why-not`."""

from collections.abc import Sequence

import typer

from librarian.cli.asking import question
from librarian.cli.display import caption, printable, shortened, table
from librarian.cli.lazy import new_app
from librarian.cli.opening import answering
from librarian.cli.runtime import say
from librarian.search.contracts import (
    AnswerInput,
    AnswerOutput,
    Cause,
    ChunkResult,
    ContextInput,
    ContextOutput,
    Explanation,
    FactResult,
    Hit,
    MemoryResult,
    MessageResult,
    RelevantInput,
    RelevantOutput,
    SearchInput,
    SearchOutput,
    SemanticSearchInput,
    SemanticSearchOutput,
    WhyNotInput,
    WhyNotOutput,
)

app = new_app()

_CAUSE_CHARS = 100


def show_hits(found: SearchOutput) -> None:
    """Print hits of all kinds, best first, followed by notes."""
    rows = [(rank, _hit_caption(hit), _hit_text(hit)) for rank, hit in enumerate(found.results, start=1)]
    if rows:
        table(("", "item", "text"), rows, ruled=True)
    else:
        say(f"Nothing found in namespace {found.namespace!r}.")
    _say_remarks(found)


def _hit_caption(hit: Hit) -> str:
    who = {"author_name": hit.author_name, "subject": hit.subject, "agent": hit.agent, "path": hit.path}
    shown = caption(hit.uid, hit.kind, who, hit.occurred_at)
    return shown if hit.namespace is None else f"{shown}\n{hit.namespace}"


def _hit_text(hit: Hit) -> str:
    lines = [shortened(hit.content), *_led_by(hit.led_by)]
    if hit.explanation is not None:
        lines += ["", *explained(hit.explanation)]
    return "\n".join(lines)


def _led_by(causes: Sequence[Cause]) -> list[str]:
    """Return a line for each item that led to a hit."""
    return [f"  led to by {cause.uid}: {shortened(cause.text, _CAUSE_CHARS)}" for cause in causes]


def explained(why: Explanation) -> list[str]:
    """Return the rank of the hit in each arm, and a bar for the share of each signal."""
    shares = {share.signal: share.share for share in why.signals if share.share}
    arms = [f"query {arm.query + 1}: {arm.arm} rank {arm.rank}{_added(arm.share)}" for arm in why.arms]
    longest = max((abs(share) for share in shares.values()), default=1.0)
    return [*arms, *(f"{name:<17}{_bar(share / longest)} {share:+.3f}" for name, share in shares.items())]


def _added(share: float) -> str:
    return f", {share:+.4f}" if share else ""


def _bar(part: float) -> str:
    """Return a bar of up to ten blocks; negative ones are drawn lighter."""
    return ("█" if part > 0 else "░") * max(1, round(abs(part) * 10))


def _say_remarks(found: SearchOutput | SemanticSearchOutput) -> None:
    if found.threshold is not None:
        say(f"threshold {found.threshold:g} (step {found.iterations})")
    _say_arms(found.arms, found.notes)


def _say_arms(arms: dict[str, str], notes: list[str]) -> None:
    for remark in [f"{arm}: {state}" for arm, state in arms.items() if state != "ok"] + notes:
        say(remark)


def show_similar(found: SemanticSearchOutput) -> None:
    """Print the hits of a semantic search, with the evidence of facts, followed by notes."""
    rows = [
        ("" if hit.similarity_score is None else f"{hit.similarity_score:.2f}", _result_caption(hit), _result_text(hit))
        for hit in found.results
    ]
    if rows:
        table(("similarity", "item", "text"), rows, ruled=True)
    else:
        say("Nothing similar is known.")
    _say_remarks(found)


def _result_caption(hit: FactResult | MessageResult | MemoryResult | ChunkResult) -> str:
    match hit:
        case FactResult():
            return caption(hit.uid, "fact", {"subject": hit.subject}, hit.valid_from)
        case MessageResult():
            return caption(hit.uid, "message", {"author_name": hit.author_name}, hit.sent_at)
        case MemoryResult():
            return caption(hit.uid, "memory", {"agent": hit.agent}, hit.occurred_at)
        case ChunkResult():
            return caption(hit.uid, "file_chunk", {"path": hit.path}, None)


def _result_text(hit: FactResult | MessageResult | MemoryResult | ChunkResult) -> str:
    lines = [shortened(hit.content)]
    if isinstance(hit, FactResult):
        lines += [f"  {source.author_name or 'from'}: {shortened(source.content)}" for source in hit.evidence]
    lines += _led_by(hit.led_by)
    if hit.explanation is not None:
        lines += ["", *explained(hit.explanation)]
    return "\n".join(lines)


def show_answer(answer: AnswerOutput) -> None:
    """Print an answer with its cited texts, or why there is none."""
    if answer.status == "refused":
        say(f"No answer: {answer.reason}.")
    else:
        typer.echo(printable(answer.text))
    hits = {hit.uid: hit for hit in answer.hits}
    rows = [
        (caption(cited.id, hit.kind, {"author_name": hit.author_name}, hit.sent_at), shortened(hit.content))
        for cited in answer.citations
        if (hit := hits.get(cited.uid)) is not None
    ]
    if rows:
        table(("cited", "text"), rows, ruled=True)
    for remark in answer.notes:
        say(f"note: {remark}")
    if answer.invented_citations:
        say(f"note: {len(answer.invented_citations)} invented citations were taken out of the text")
    for sentence in answer.uncited_sentences:
        say(f"note: without a citation: {shortened(sentence)}")


def show_relevant(found: RelevantOutput) -> None:
    """Print the evidence for a question, best first."""
    rows = [
        (f"{hit.score:.3f}", caption(hit.uid, hit.kind, {"author_name": hit.author_name}, hit.sent_at), text)
        for hit in found.hits
        if (text := "\n".join([shortened(hit.content), *_led_by(hit.led_by)]))
    ]
    if rows:
        table(("score", "item", "text"), rows, ruled=True)
    else:
        say(f"Nothing found in namespace {found.namespace!r}.")
    _say_arms(found.arms, found.notes)


def show_context(found: ContextOutput) -> None:
    """Print the text for a model, and its number of tokens."""
    typer.echo(printable(found.text))
    say(f"{found.tokens} of {found.max_tokens} tokens ({found.counted_by})")
    _say_arms(found.arms, found.notes)


def show_reasons(found: WhyNotOutput) -> None:
    """Print why a search does not show an item, arm by arm."""
    say(found.explanation)
    if found.arms:
        rows = [(arm.query + 1, arm.arm, arm.rank, arm.score, arm.reason) for arm in found.arms]
        table(("query", "arm", "rank", "cosine", "why not"), rows)


question(app, "search", SearchInput, show_hits, reach=answering)
question(app, "search-facts", SemanticSearchInput, show_similar, reach=answering)
question(app, "search-messages", SemanticSearchInput, show_similar, reach=answering)
question(app, "search-memories", SemanticSearchInput, show_similar, reach=answering)
question(app, "search-all", SemanticSearchInput, show_similar, reach=answering)
question(app, "ask", AnswerInput, show_answer, reach=answering)
question(app, "relevant", RelevantInput, show_relevant, reach=answering)
question(app, "context", ContextInput, show_context, reach=answering)
question(app, "why-not", WhyNotInput, show_reasons, reach=answering)
