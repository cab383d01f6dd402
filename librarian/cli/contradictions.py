"""`librarian contradictions`."""

from librarian.cli.display import table
from librarian.cli.opening import ask, reached_without_encoder
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import new_app, say
from librarian.cli.structs import takes
from librarian.contracts.causal import ContradictingFact, ContradictionList, ContradictionQuery

app = new_app()


@app.command()
@takes(ContradictionQuery)
def contradictions(
    asked: ContradictionQuery, namespace: NamespaceOption = None, *, as_json: JsonOption = False
) -> None:
    """List facts and edges that contradict each other."""
    ask(
        lambda librarian, where: librarian.contradictions(where, asked),
        namespace,
        _show,
        purpose="contradictions",
        reach=reached_without_encoder,
        contract=ContradictionQuery,
        as_json=as_json,
    )


def _show(found: ContradictionList) -> None:
    if found.facts:
        rows = [(one.person_id, one.relationship_type, _fact(one.first), _fact(one.second)) for one in found.facts]
        table(("person", "what", "one says", "the other says"), rows, ruled=True)
    if found.edges:
        pairs = [(one.source.name, one.target.name, _edges([edge.type for edge in one.edges])) for one in found.edges]
        table(("from", "to", "edges"), pairs, ruled=True)
    if not found.facts and not found.edges:
        say("Nothing contradicts itself.")
    if found.more:
        say("There may be more: see --limit.")


def _fact(fact: ContradictingFact) -> str:
    since = fact.valid_from.date() if fact.valid_from else "ever"
    until = f" until {fact.valid_to.date()}" if fact.valid_to else ""
    return f"{fact.object}\n{fact.uid}, since {since}{until}"


def _edges(types: list[str]) -> str:
    return " and ".join(sorted(set(types)))
