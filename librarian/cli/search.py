"""`librarian search`."""

from librarian.cli.display import table
from librarian.cli.items import caption, shortened
from librarian.cli.opening import ask
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import new_app, say
from librarian.cli.structs import takes
from librarian.contracts.search import Explanation, Hit, SearchInput, SearchOutput

app = new_app()


@app.command()
@takes(SearchInput)
def search(query: SearchInput, namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """Find items."""
    ask(
        lambda librarian, where: librarian.search(where, query),
        namespace,
        _show,
        purpose="search",
        contract=SearchInput,
        as_json=as_json,
    )


def _show(found: SearchOutput) -> None:
    rows = [(rank, _item(hit), _text(hit)) for rank, hit in enumerate(found.results, start=1)]
    if rows:
        table(("", "item", "text"), rows, ruled=True)
    else:
        say(f"Nothing found in namespace {found.namespace!r}.")
    if found.threshold is not None:
        say(f"threshold {found.threshold:g} (step {found.iterations})")
    for remark in [f"{arm}: {state}" for arm, state in found.arms.items() if state != "ok"] + found.notes:
        say(remark)


def _item(hit: Hit) -> str:
    who = {"author_name": hit.author_name, "subject": hit.subject, "agent": hit.agent, "path": hit.path}
    return caption(hit.uid, hit.kind, who, hit.occurred_at)


def _text(hit: Hit) -> str:
    text = shortened(hit.content)
    if hit.explanation is None:
        return text
    return "\n".join([text, "", *explained(hit.explanation)])


def explained(why: Explanation) -> list[str]:
    """Where each arm had the hit, and a bar for what each signal added or took."""
    shares = {one.signal: one.share for one in why.signals if one.share}
    arms = [f"query {arm.query + 1}: {arm.arm} rank {arm.rank}{_added(arm.share)}" for arm in why.arms]
    longest = max((abs(share) for share in shares.values()), default=1.0)
    return [*arms, *(f"{name:<17}{_bar(share / longest)} {share:+.3f}" for name, share in shares.items())]


def _added(share: float) -> str:
    return f", {share:+.4f}" if share else ""


def _bar(part: float) -> str:
    """A bar of up to ten blocks; what takes away is drawn lighter."""
    return ("█" if part > 0 else "░") * max(1, round(abs(part) * 10))
