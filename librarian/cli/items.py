"""Lists, reads, changes and deletes items, edges and namespaces."""

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar, cast

import msgspec
import typer
from msgspec import Struct

from librarian.base.errors import InvalidInput
from librarian.base.strictjson import decode
from librarian.cli.asking import ask, list_pages, listing, question, question_of_uid
from librarian.cli.display import caption, printable, shortened, table
from librarian.cli.lazy import new_app
from librarian.cli.opening import Connection, answering_without_encoder, encode_pending, reached_without_encoder
from librarian.cli.options import (
    AllOption,
    JsonOption,
    NamespaceOption,
    NoEmbedOption,
    UidArgument,
    VersionOption,
    struct_of,
    takes,
)
from librarian.cli.runtime import finished, say
from librarian.cli.values import STDIN, json_value, moment, scalar, texts, utf8
from librarian.items.contracts import (
    CorrectInput,
    CorrectOutput,
    DeleteCounts,
    DeleteInput,
    DeleteOutput,
    EdgeOut,
    EdgeQuery,
    ForgottenOut,
    ForgottenQuery,
    ImpactOutput,
    ItemIn,
    ItemOut,
    ItemQuery,
    LiftInput,
    LinkInput,
    LinkOutput,
    Moments,
    NamespaceList,
    PutOutput,
    RememberInput,
    RevisionList,
    UnlinkInput,
)

app = new_app()

T = TypeVar("T")

YesOption: TypeAlias = Annotated[
    bool, typer.Option("--yes", "-y", help="Delete what the preview shows, without confirmation.")
]

# Properties with times.
_TIMES = frozenset({"expires_at", "sent_at", "updated_at", "valid_from", "valid_to"})


# Reading.


def show_items(items: Sequence[ItemOut]) -> None:
    """Print a page of items as a table."""
    if items:
        rows = [
            (caption(item.uid, item.kind, item.properties, item.occurred_at), shortened(item.text)) for item in items
        ]
        table(("item", "text"), rows, ruled=True)
    else:
        say("No items match.")


def show_item(item: ItemOut) -> None:
    """Print one item with all its details."""
    head = [
        ("uid", item.uid),
        ("kind", item.kind),
        ("namespace", item.namespace),
        ("version", item.version),
        ("occurred", item.occurred_at),
    ]
    own = [
        (name, _property(name, value)) for name, value in sorted(item.properties.items()) if value not in (None, [], {})
    ]
    table(("", ""), [*head, *own])
    typer.echo(printable(item.text))
    if item.unsupported:
        lost = item.unsupported
        way = f" ({' <- '.join(lost.way)})" if lost.way else ""
        say(f"Unsupported since {lost.since:%Y-%m-%d}: its support was {lost.because}{way}.")
    if item.superseded_by:
        say(f"{item.superseded_by} holds instead.")
    if item.evidence:
        rows = [(found.uid, found.author_name, found.sent_at, found.content) for found in item.evidence]
        table(("evidence", "author", "sent", "text"), rows)


def _property(name: str, value: Any) -> Any:
    """Return a property in the graph's type: a service sends times as texts."""
    return datetime.fromisoformat(value) if name in _TIMES and isinstance(value, str) else value


def show_history(found: RevisionList) -> None:
    """Print an item's earlier versions."""
    if not found.revisions:
        say("It was never changed.")
        return
    rows = [
        (revision.version, revision.revised_at, revision.actor, revision.reason, shortened(revision.text))
        for revision in found.revisions
    ]
    table(("version", "until", "changed by", "why", "text"), rows, ruled=True)


def show_impact(found: ImpactOutput) -> None:
    """Print the items that depend on an item."""
    if not (found.unsupported or found.supported or found.leads_to):
        say("Nothing rests on it.")
    rows = [("unsupported", item.uid, item.kind, item.name, " <- ".join(item.way)) for item in found.unsupported]
    rows += [("keeps other support", item.uid, item.kind, item.name, "") for item in found.supported]
    rows += [("led to", item.uid, item.kind, item.name, f"{item.source} {item.type}") for item in found.leads_to]
    if rows:
        table(("would be", "uid", "kind", "name", "by way of"), rows)


listing(app, "list", ItemQuery, "items", show_items)


@app.command("get")
@takes(Moments)
def get(moments: Moments, uid: UidArgument, namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """Show one item."""
    ask(
        lambda librarian, where: librarian.get_item(where, uid, moments.as_of, moments.known_at),
        namespace,
        show_item,
        purpose="get",
        contract=Moments,
        reach=answering_without_encoder,
        as_json=as_json,
    )


question_of_uid(app, "history", show_history)
question_of_uid(app, "impact", show_impact)


# Storing and changing.


def show_stored(stored: PutOutput) -> None:
    """Print the uid of the stored item, and the outcome."""
    say(f"{stored.outcome.capitalize()}; version {stored.item.version}.")
    typer.echo(stored.item.uid)


def _store(
    write: Callable[[Connection, str], Awaitable[T]],
    namespace: str | None,
    show: Callable[[T], None],
    *,
    purpose: str,
    contract: type[Struct] | None = None,
    no_embed: bool,
    as_json: bool,
) -> None:
    """Store an item, encode pending ones, and show the outcome."""

    async def stored(librarian: Connection, where: str) -> T:
        written = await write(librarian, where)
        await encode_pending(librarian, unless=no_embed)
        return written

    ask(stored, namespace, show, purpose=purpose, contract=contract, as_json=as_json)


@app.command("remember")
@takes(RememberInput)
def remember(
    what: RememberInput,
    namespace: NamespaceOption = None,
    *,
    no_embed: NoEmbedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Keep one memory or fact."""
    _store(
        lambda librarian, where: librarian.remember(where, what),
        namespace,
        show_stored,
        purpose="remember",
        contract=RememberInput,
        no_embed=no_embed,
        as_json=as_json,
    )


@app.command("correct")
@takes(CorrectInput)
def correct(
    correction: CorrectInput,
    namespace: NamespaceOption = None,
    *,
    no_embed: NoEmbedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Correct a fact or memory.

    Omitted fields stay the same. The old fact stays in the history; a memory's old text is kept as a revision.
    """
    _store(
        lambda librarian, where: librarian.correct(where, correction.uid, correction),
        namespace,
        _show_corrected,
        purpose="correct",
        contract=CorrectInput,
        no_embed=no_embed,
        as_json=as_json,
    )


def _show_corrected(corrected: CorrectOutput) -> None:
    if corrected.superseded is None:
        say(f"Corrected; version {corrected.item.version}.")
    else:
        say(f"A new fact supersedes {corrected.superseded}.")
    typer.echo(corrected.item.uid)


@app.command("put")
def put(
    uid: Annotated[str, typer.Argument(metavar="UID", help="The uid of the item to create or replace.")],
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="One row of JSON, as for `ingest`.")],
    namespace: NamespaceOption = None,
    if_version: VersionOption = None,
    *,
    no_embed: NoEmbedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Create or replace one item."""
    row = finished(lambda: _row(file))
    _store(
        lambda librarian, where: librarian.put_item(where, uid, row, if_version=if_version),
        namespace,
        show_stored,
        purpose="put",
        no_embed=no_embed,
        as_json=as_json,
    )


def _row(file: str) -> ItemIn:
    body = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
    row: ItemIn = decode(body, cast("type[ItemIn]", ItemIn))  # a union of classes decodes like one
    return row


@app.command("edit")
def edit(
    uid: UidArgument,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="FIELD=VALUE", help="A field of the item's row; lists as a,b or JSON."),
    ] = None,
    unset: Annotated[list[str] | None, typer.Option(metavar="FIELD", help="A field to remove.")] = None,
    namespace: NamespaceOption = None,
    if_version: VersionOption = None,
    *,
    no_embed: NoEmbedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Change some fields of one item.

    Both options may be repeated; a.b is the key b of the object a.
    """
    patch = finished(lambda: merge_patch(set_ or [], unset or []))
    _store(
        lambda librarian, where: librarian.patch_item(where, uid, patch, if_version=if_version),
        namespace,
        _show_version,
        purpose="edit",
        no_embed=no_embed,
        as_json=as_json,
    )


def _show_version(item: ItemOut) -> None:
    say(f"Version {item.version}.")
    typer.echo(item.uid)


def merge_patch(set_: list[str], unset: list[str]) -> dict[str, Any]:
    """Return the JSON merge patch (RFC 7396) of `--set` and `--unset`; a.b is the key b of the object a.

    Raises InvalidInput.
    """
    patch: dict[str, Any] = {}
    for assignment in set_:
        path, equals, text = utf8(assignment, "--set").partition("=")
        if not path or not equals:
            raise InvalidInput(f"{assignment!r} has no value", field="--set", remedy="Write --set importance=7.")
        _put(patch, path, _value(path, text))
    for path in unset:
        _put(patch, utf8(path, "--unset"), None)
    if not patch:
        raise InvalidInput("no change is given", field="--set", remedy="Give --set or --unset.")
    return patch


def _put(patch: dict[str, Any], path: str, value: Any) -> None:
    field, dot, key = path.partition(".")
    inner = patch.setdefault(field, {}) if dot else patch
    name = key if dot else field
    if not isinstance(inner, dict) or name in inner:
        raise InvalidInput(f"{path!r} is changed twice", field="--set", remedy="Give each field once.")
    inner[name] = value


def _value(path: str, text: str) -> Any:
    """Convert the text to the field's type; the service checks the rest."""
    if "." in path:
        return scalar(text)
    return READERS[path](text, "--set") if path in READERS else text


def _time(text: str, option: str) -> str:
    return moment(text, option).isoformat()


# Fields of rows that are not texts.
READERS: Mapping[str, Callable[[str, str], Any]] = {
    "occurred_at": _time,
    "sent_at": _time,
    "valid_from": _time,
    "valid_to": _time,
    "expires_at": _time,
    "pinned": json_value,
    "importance": json_value,
    "confidence": json_value,
    "position": json_value,
    "attributes": json_value,
    "tags": texts,
    "evidence": texts,
    "supersedes": texts,
}


# Deletion in two steps: a preview with a token, then exactly the previewed items.


@app.command("forget")
@takes(DeleteInput)
def forget(
    what: DeleteInput, namespace: NamespaceOption = None, *, yes: YesOption = False, as_json: JsonOption = False
) -> None:
    """Delete items by uid or filter, after a preview.

    They leave tombstones (hashes without text), which keep them from returning until `forgotten lift`.
    """

    async def delete(librarian: Connection, where: str) -> DeleteOutput:
        async def step(token: str | None) -> DeleteOutput:
            return await librarian.delete_items(where, msgspec.structs.replace(what, confirm_token=token))

        return await _deleted(step, what.confirm_token, yes=yes, silent=as_json)

    ask(
        delete,
        namespace,
        show_deletion,
        purpose="forget",
        contract=DeleteInput,
        reach=reached_without_encoder,
        as_json=as_json,
    )


async def _deleted(
    delete: Callable[[str | None], Awaitable[DeleteOutput]], token: str | None, *, yes: bool, silent: bool
) -> DeleteOutput:
    """Return the answer of `delete`; with `yes` its preview is shown (unless `silent`) and confirmed."""
    answer = await delete(token)
    if answer.confirm_token is None or not yes:
        return answer
    if not silent:
        _show_preview(answer)
    return await delete(answer.confirm_token)


def show_deletion(answer: DeleteOutput) -> None:
    """Print what was deleted, or a preview and how to confirm it."""
    if answer.deleted:
        table(("", "deleted"), _count_rows(answer.counts))
        if answer.kept:
            say(f"{answer.kept} items were changed since the preview and are kept.")
    elif answer.confirm_token is None:
        say("Nothing matches; nothing is deleted.")
    else:
        _show_preview(answer)
        say("Nothing is deleted yet. The same command with this deletes exactly that:")
        typer.echo(f"--confirm {answer.confirm_token}")


def _show_preview(answer: DeleteOutput) -> None:
    table(("", "to be deleted"), _count_rows(answer.counts))
    if answer.sample:
        table(("uid", "kind", "name"), [(brief.uid, brief.kind, brief.name) for brief in answer.sample])
    if answer.unsupported:
        rows = [(brief.uid, brief.kind, brief.name) for brief in answer.unsupported]
        table(("nothing would support", "kind", "name"), rows)


def _count_rows(counts: DeleteCounts) -> list[tuple[str, int]]:
    rest = ("edges", "evidence_links", "revisions", "embeddings")
    rows = [("items", counts.items), *((f"  {kind}", count) for kind, count in sorted(counts.by_kind.items()))]
    return [*rows, *((name.replace("_", " "), getattr(counts, name)) for name in rest)]


# Tombstones.

forgotten = new_app("List forgotten items, and allow them back.")
app.add_typer(forgotten, name="forgotten")


@forgotten.command("list")
@takes(ForgottenQuery)
def list_forgotten(
    query: ForgottenQuery, namespace: NamespaceOption = None, *, every: AllOption = False, as_json: JsonOption = False
) -> None:
    """List tombstones, latest first: kind, time, caller. They hold hashes and no text."""
    list_pages(
        "list_forgotten", query, namespace, "forgotten", _show_forgotten, purpose="forgotten",
        reach=answering_without_encoder, every=every, as_json=as_json,
    )  # fmt: skip


@forgotten.command("lift")
@takes(LiftInput)
def lift_forgotten(what: LiftInput, namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """Allow items to return, named by their uid or the id of their tombstone.

    Their contents were not kept: they return when they are ingested or imported again.
    """
    ask(
        lambda librarian, where: librarian.lift_forgotten(where, what),
        namespace,
        lambda done: say(f"{done.lifted} tombstones were lifted."),
        purpose="forgotten",
        contract=LiftInput,
        reach=reached_without_encoder,
        as_json=as_json,
    )


def _show_forgotten(found: Sequence[ForgottenOut]) -> None:
    if found:
        rows = [(each.tombstone_id, each.kind, each.forgotten_at, each.actor) for each in found]
        table(("tombstone", "kind", "forgotten", "by"), rows)
    else:
        say("Nothing was forgotten.")


# Edges.


def show_edges(edges: Sequence[EdgeOut]) -> None:
    """Print a page of typed edges as a table."""
    if edges:
        rows = [
            (edge.edge_id, edge.source, edge.type, edge.target, edge.state, f"{edge.method} {edge.confidence:.2f}",
             edge.reason)
            for edge in edges
        ]  # fmt: skip
        table(("edge", "source", "type", "target", "state", "how", "reason"), rows)
    else:
        say("No edges match.")


def show_link(linked: LinkOutput) -> None:
    """Print the id of an edge, and say whether it is new."""
    edge = linked.edge
    say(f"{edge.source} {edge.type} {edge.target}{'' if linked.created else ' was there already'}.")
    for note in linked.notes:
        say(note)
    typer.echo(edge.edge_id)


listing(app, "edges", EdgeQuery, "edges", show_edges)
question(app, "link", LinkInput, show_link)

# Ways to name an edge: the number of words, and their fields.
_EDGE_NAMES = {1: ("edge_id",), 3: ("source", "type", "target")}


@app.command("unlink")
def unlink(
    which: Annotated[
        list[str],
        typer.Argument(metavar="EDGE_ID | SOURCE TYPE TARGET", help="The edge, as `librarian edges` shows it."),
    ],
    namespace: NamespaceOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Remove a typed edge."""
    if len(which) not in _EDGE_NAMES:
        raise typer.BadParameter("give EDGE_ID, or SOURCE TYPE TARGET")
    named = dict(zip(_EDGE_NAMES[len(which)], which, strict=True))
    edge = finished(lambda: struct_of(UnlinkInput, named))
    ask(
        lambda librarian, where: librarian.unlink(where, edge),
        namespace,
        lambda gone: say(f"Removed {gone.edge_id}: {gone.source} {gone.type} {gone.target}."),
        purpose="unlink",
        contract=UnlinkInput,
        reach=reached_without_encoder,
        as_json=as_json,
    )


# Namespaces.

namespaces = new_app("List and delete namespaces.")
app.add_typer(namespaces, name="namespaces")


@namespaces.command("list")
def list_namespaces(*, as_json: JsonOption = False) -> None:
    """List every namespace with its counts."""
    ask(
        lambda librarian, _: librarian.namespaces(),
        None,
        _show_namespaces,
        purpose="namespaces",
        reach=answering_without_encoder,
        as_json=as_json,
    )


@namespaces.command()
def delete(
    namespace: Annotated[str, typer.Argument(metavar="NS", help="The namespace.")],
    confirm: Annotated[str | None, typer.Option(help="Delete what the preview with this token showed.")] = None,
    *,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete a namespace with all its contents, after a preview."""

    async def delete_all(librarian: Connection, where: str) -> DeleteOutput:
        return await _deleted(partial(librarian.delete_namespace, where), confirm, yes=yes, silent=as_json)

    ask(delete_all, namespace, show_deletion, purpose="namespaces", reach=reached_without_encoder, as_json=as_json)


def _show_namespaces(found: NamespaceList) -> None:
    rows = [
        (
            namespace.namespace,
            namespace.items,
            ", ".join(f"{count} {kind}" for kind, count in sorted(namespace.by_kind.items()) if count),
            namespace.pending_embeddings,
        )
        for namespace in found.namespaces
    ]
    table(("namespace", "items", "of these", "pending vectors"), rows)
