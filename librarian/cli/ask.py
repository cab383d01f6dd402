"""`librarian ask`."""

import typer

from librarian.cli.display import printable, table
from librarian.cli.items import caption, shortened
from librarian.cli.opening import ask as ask_librarian
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import new_app, say
from librarian.cli.structs import takes
from librarian.contracts.answer import AnswerInput, AnswerOutput

app = new_app()


@app.command()
@takes(AnswerInput)
def ask(question: AnswerInput, namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """Answer a question out of what is kept, with citations."""
    ask_librarian(
        lambda librarian, where: librarian.answer(where, question),
        namespace,
        _show,
        purpose="ask",
        contract=AnswerInput,
        as_json=as_json,
    )


def _show(answer: AnswerOutput) -> None:
    if answer.status == "refused":
        say(f"No answer: {answer.reason}.")
    else:
        typer.echo(printable(answer.text))
    _show_sources(answer)
    for remark in answer.notes:
        say(f"note: {remark}")
    if answer.invented_citations:
        say(f"note: {len(answer.invented_citations)} invented citations were taken out of the text")
    for sentence in answer.uncited_sentences:
        say(f"note: without a citation: {shortened(sentence)}")


def _show_sources(answer: AnswerOutput) -> None:
    hits = {hit.uid: hit for hit in answer.hits}
    rows = [
        (caption(cited.id, hit.kind, {"author_name": hit.author_name}, hit.sent_at), shortened(hit.content))
        for cited in answer.citations
        if (hit := hits.get(cited.uid)) is not None
    ]
    if rows:
        table(("cited", "text"), rows, ruled=True)
