"""`librarian edit`."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from librarian.cli.opening import ask, encode_pending
from librarian.cli.options import JsonOption, NamespaceOption, NoEmbedOption, UidArgument, VersionOption
from librarian.cli.runtime import finished, new_app, say
from librarian.cli.values import json_value, moment, scalar, texts, utf8
from librarian.cli.verbs import Verbs
from librarian.contracts.items import ItemOut
from librarian.errors import InvalidInput

app = new_app()


def _time(text: str, option: str) -> str:
    return moment(text, option).isoformat()


# Fields of rows that are not texts.
READERS: Mapping[str, Callable[[str, str], Any]] = {
    "occurred_at": _time,
    "sent_at": _time,
    "valid_from": _time,
    "valid_to": _time,
    "importance": json_value,
    "confidence": json_value,
    "position": json_value,
    "attributes": json_value,
    "tags": texts,
    "evidence": texts,
    "supersedes": texts,
}


@app.command()
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

    async def question(librarian: Verbs, where: str) -> ItemOut:
        item = await librarian.patch_item(where, uid, patch, if_version=if_version)
        await encode_pending(librarian, unless=no_embed)
        return item

    ask(question, namespace, _show, purpose="edit", as_json=as_json)


def _show(item: ItemOut) -> None:
    say(f"Version {item.version}.")
    typer.echo(item.uid)


def merge_patch(set_: list[str], unset: list[str]) -> dict[str, Any]:
    """The JSON merge patch (RFC 7396) of `--set` and `--unset`; a.b is the key b of the object a.

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
        raise InvalidInput("nothing is to be changed", field="--set", remedy="Give --set or --unset.")
    return patch


def _put(patch: dict[str, Any], path: str, value: Any) -> None:
    field, dot, key = path.partition(".")
    inner = patch.setdefault(field, {}) if dot else patch
    name = key if dot else field
    if not isinstance(inner, dict) or name in inner:
        raise InvalidInput(f"{path!r} is changed twice", field="--set", remedy="Give each field once.")
    inner[name] = value


def _value(path: str, text: str) -> Any:
    """The text as the field's type wants it; the service checks the rest."""
    if "." in path:
        return scalar(text)
    return READERS[path](text, "--set") if path in READERS else text
