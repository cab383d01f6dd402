"""Tombstones: records that something was forgotten, so that nothing brings it back unnoticed.

A tombstone holds no text. It holds HMAC-SHA256 hashes with a random salt of its namespace: of the item's uid
(`identity`), and, as `marks`, of a message's `message_id` and of the item's present and past texts, whole and by their
words. Whoever can read the salt can test a guess against them, as with any hash of a short text; that is why short,
common phrases get no mark.
"""

import hashlib
import hmac
import re
import secrets
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from graph.executor import Executor, Row, Transaction
from graph.item import Fact, Item
from graph.likeness import LEAST_SHARED, signature
from graph.portable import properties_from_json
from graph.types import Kind

_HASH_DIGITS = 32
_SALT_BYTES = 16
_BEGINNING_CHARS = 40
_TOMBSTONES_LOOKED_AT = 100
_WORD = re.compile(r"\w+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LEAST_CHARS: Mapping[Kind, int] = {Kind.MEMORY: 8, Kind.FACT: 8, Kind.MESSAGE: 40, Kind.FILE_CHUNK: 40}
"""Anyone may say a shorter text ("ok, see you tomorrow"), so of such a message only the uid is held."""


@dataclass(frozen=True, slots=True)
class Said:
    """The parts of an item that identify it once forgotten: its uid, and its text in one form or several."""

    uid: str
    kind: Kind
    texts: Sequence[str] = field(repr=False)
    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Record that an item was forgotten, by whom and when (as text to the nanosecond)."""

    identity: str
    kind: str
    actor: str | None
    forgotten_at: str


@dataclass(frozen=True, slots=True)
class ItemTexts:
    """Texts of items with their versions, read before waiting for their locks; `elsewhere` are texts that other items
    also contain: forgetting one and leaving the other does not forget those.
    """

    rows: Mapping[str, Row] = field(repr=False)
    elsewhere: Set[str] = field(repr=False)


def said_by(item: Item) -> Said:
    """Return the identifying parts of an item."""
    triple = (item.subject, item.predicate, item.object) if isinstance(item, Fact) else ()
    return Said(item.uid, item.kind, (item.text, *_sentence(*triple)))


def said_in(row: Mapping[str, Any]) -> Said:
    """Return the identifying parts of an item, given its properties."""
    sentence = _sentence(row.get("subject"), row.get("predicate"), row.get("object"))
    texts = (row.get("text") or "", *sentence)
    return Said(row.get("uid") or "", Kind(row["kind"]), texts, row.get("message_id"))


def contents(said: Said) -> set[str]:
    """Return the texts without case, width and punctuation, except those too short to be distinctive. A Chinese,
    Japanese or Korean letter counts as three.
    """
    folded = {
        " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold().replace("_", " "))) for text in said.texts
    }
    return {text for text in folded if len(text) + 2 * len(_WIDE.findall(text)) >= _LEAST_CHARS[said.kind]}


async def hold_back(
    transaction: Transaction, namespace: str, incoming: Iterable[Said], *, lift: bool = False
) -> list[str]:
    """Return the uids of items forgotten before, by uid or in the same words. With `lift` they may come back: their
    tombstones are deleted.
    """
    coming = list(incoming)
    if not coming:
        return []
    salts = await _salts(transaction, namespace)
    if not salts:
        return []
    found = await transaction.run("find_tombstones", {"namespace": namespace, "rows": _hashed(salts, coming)})
    if lift and found:
        params = {name: [each for row in found for each in row[name]] for name in ("identities", "marks")}
        await transaction.run("lift_tombstones", {"namespace": namespace, **params})
    return [] if lift else [row["uid"] for row in found]


async def mark_resembling(transaction: Transaction, namespace: str, incoming: Iterable[Said]) -> list[str]:
    """Mark the locked items that may reword something forgotten, and return their uids; others lose their mark."""
    coming = list(incoming)
    salts = await _salts(transaction, namespace) if coming else []
    if not salts:
        return []
    signatures = {said.uid: _signatures(salts, said) for said in coming}
    nearest = await _nearest(transaction, namespace, signatures)
    rows = [{"uid": uid, "resembles": nearest.get(uid)} for uid in signatures]
    await transaction.run("mark_resembling", {"namespace": namespace, "rows": rows})
    return list(nearest)


async def _nearest(
    transaction: Transaction, namespace: str, signatures: Mapping[str, Collection[str]]
) -> dict[str, str]:
    """Return the identity of the tombstone that shares the most marks with each signature, by the signature's key; of
    those that share enough with none, nothing.

    Marks are looked up once for all: texts of the same few words share most of theirs.
    """
    marks = sorted({mark for own in signatures.values() for mark in own})
    params = {"namespace": namespace, "marks": marks, "most": _TOMBSTONES_LOOKED_AT}
    rows = await transaction.run("tombstones_of_marks", params) if marks else []
    holders = {row["mark"]: row["identities"] for row in rows}
    nearest = {}
    for key, own in signatures.items():
        shared = Counter(identity for mark in own for identity in holders.get(mark, ()))
        if shared:
            identity, count = min(shared.items(), key=lambda each: (-each[1], each[0]))
            if count >= LEAST_SHARED:
                nearest[key] = identity
    return nearest


async def forgotten_uids(transaction: Transaction, namespace: str, uids: Iterable[str]) -> list[str]:
    """Return those of `uids` whose items were forgotten."""
    return await hold_back(transaction, namespace, [Said(uid, Kind.MESSAGE, ()) for uid in uids])


async def forgotten_refs(transaction: Transaction, namespace: str, refs: Collection[str]) -> list[str]:
    """Return the citations `refs` that name something forgotten: an item by its uid, a message by its `message_id`."""
    salts = await _salts(transaction, namespace) if refs else []
    rows = [
        {
            "uid": ref,
            "identities": [_hash(salt, "uid", ref) for salt in salts],
            "marks": [_hash(salt, "message_id", ref) for salt in salts],
        }
        for ref in refs
    ]
    found = await transaction.run("find_tombstones", {"namespace": namespace, "rows": rows}) if salts else []
    return [row["uid"] for row in found]


async def read_texts(transaction: Transaction, namespace: str, uids: Sequence[str]) -> ItemTexts:
    """Return the texts of the items `uids`, for `leave`. Scans all texts of the namespace."""
    rows = await _read_said(transaction, namespace, uids)
    doomed = [said for row in rows.values() for said in _said_of(row)]
    wanted = {text for said in doomed for text in contents(said)}
    beginnings = sorted({text[:_BEGINNING_CHARS].lower() for said in doomed for text in said.texts})
    params = {"namespace": namespace, "beginnings": beginnings, "chars": _BEGINNING_CHARS, "uids": list(uids)}
    others = await transaction.run("items_beginning_like", params) if wanted else []
    return ItemTexts(rows, wanted & {text for row in others if row["text"] for text in contents(said_in(row))})


async def leave(
    transaction: Transaction, namespace: str, versions: Mapping[str, int], texts: ItemTexts | None, actor: str | None
) -> None:
    """Leave tombstones for locked items (version by uid) that are about to be deleted and for those merged into them;
    without `texts`, of their uids alone. Also delete stored responses that may contain their texts, and what else is
    derived from lines of files.
    """
    read = {} if texts is None else texts.rows
    rows = {uid: row for uid, row in read.items() if versions.get(uid) == row["version"]}
    if changed := [uid for uid in versions if uid not in rows]:
        rows |= await _read_said(transaction, namespace, changed)
    doomed = [said for row in rows.values() for said in _said_of(row)]
    if not doomed:
        return
    fresh = {"namespace": namespace, "salts": [secrets.token_hex(_SALT_BYTES)], "always": False}
    (made,) = await transaction.run("make_tombstone_salts", fresh)
    written = _tombstones(made["salts"][0], doomed, texts)
    await transaction.run("put_tombstones", {"namespace": namespace, "rows": written, "actor": actor})
    await transaction.run("delete_answers_naming", {"namespace": namespace, "uids": [said.uid for said in doomed]})
    await blank_outlines(transaction, namespace, [row["lines"] for row in rows.values() if row["lines"]])


def _tombstones(salt: str, doomed: Iterable[Said], texts: ItemTexts | None) -> list[Row]:
    rows: dict[str, Row] = {}
    for said in doomed:
        identity = _hash(salt, "uid", said.uid)
        row = rows.setdefault(identity, {"identity": identity, "kind": said.kind.value, "marks": set()})
        if said.message_id is not None:
            row["marks"].add(_hash(salt, "message_id", said.message_id))
        if texts is not None:
            fresh = contents(said) - texts.elsewhere
            row["marks"] |= {_hash(salt, "text", text) for text in fresh}
            if fresh:
                row["marks"].update(_signatures([salt], said))
    return [{**row, "marks": sorted(row["marks"])} for _, row in sorted(rows.items())]


async def blank_outlines(transaction: Transaction, namespace: str, lines: Sequence[Row]) -> None:
    """Delete what is derived from lines of files (path, start_line, end_line), apart from their text."""
    if lines:
        await transaction.run("blank_outlines", {"namespace": namespace, "rows": list(lines)})


async def lift(executor: Executor, namespace: str, uids: Sequence[str], identities: Sequence[str]) -> int:
    """Let items come back, named by their uids or by their tombstones. Returns the number of tombstones deleted."""

    async def work(transaction: Transaction) -> int:
        salts = await _salts(transaction, namespace)
        named = [*identities, *(_hash(salt, "uid", uid) for salt in salts for uid in uids)]
        params = {"namespace": namespace, "identities": sorted(set(named)), "marks": []}
        (row,) = await transaction.run("lift_tombstones", params)
        return int(row["lifted"])

    return await executor.transaction("lift_tombstones", work)


async def lift_said(executor: Executor, namespace: str, said: Said) -> None:
    """Let one item come back."""

    async def work(transaction: Transaction) -> None:
        await hold_back(transaction, namespace, [said], lift=True)

    await executor.transaction("lift_tombstones", work)


async def list_tombstones(
    executor: Executor, namespace: str, limit: int, after: tuple[str, str] | None = None
) -> list[Tombstone]:
    """Return up to `limit` tombstones, latest first, starting after `after` (`forgotten_at` and identity)."""
    time, identity = after or ("9999-12-31T23:59:59Z", "")
    params = {"namespace": namespace, "before_time": time, "before_identity": identity, "limit": limit}
    return [Tombstone(**row) for row in await executor.fetch_all("list_tombstones", params)]


async def read_salts(executor: Executor, namespace: str) -> list[str]:
    """Return the salts of a namespace; none if nothing was ever forgotten."""
    row = await executor.fetch_one("tombstone_salts", {"namespace": namespace})
    return list(row["salts"]) if row else []


async def forgetful_namespaces(executor: Executor) -> list[str]:
    """Return every namespace in which something was forgotten, by name."""
    return [row["namespace"] for row in await executor.fetch_all("namespaces_of_tombstones")]


async def write_tombstones(transaction: Transaction, namespace: str, rows: Sequence[Mapping[str, Any]]) -> int:
    """Create those that do not exist, with the salts they were made with. Returns how many."""
    salts = sorted({salt for row in rows for salt in row["salts"]})
    await transaction.run("make_tombstone_salts", {"namespace": namespace, "salts": salts, "always": True})
    written = [
        {"identity": row["identity"], "properties": properties_from_json(row["properties"]), "marks": row["marks"]}
        for row in rows
    ]
    (done,) = await transaction.run("import_tombstones", {"namespace": namespace, "rows": written})
    return int(done["created"])


async def _salts(transaction: Transaction, namespace: str) -> list[str]:
    rows = await transaction.run("tombstone_salts", {"namespace": namespace})
    return list(rows[0]["salts"]) if rows else []


async def _read_said(transaction: Transaction, namespace: str, uids: Sequence[str]) -> dict[str, Row]:
    rows = await transaction.run("read_said", {"namespace": namespace, "uids": list(uids)})
    return {row["uid"]: row for row in rows}


def _said_of(row: Row) -> list[Said]:
    """Return the present and past forms of an item."""
    return [said_in(said) for said in row["said"] if said["uid"] and said["kind"]]


def _hashed(salts: Sequence[str], coming: Iterable[Said]) -> list[Row]:
    rows = []
    for said in coming:
        texts = contents(said)
        identities = [_hash(salt, "uid", said.uid) for salt in salts]
        rows.append(
            {
                "uid": said.uid,
                "identities": identities,
                "marks": [_hash(salt, "text", text) for salt in salts for text in texts],
            }
        )
    return rows


def _signatures(salts: Sequence[str], said: Said) -> list[str]:
    """Return the signatures of the texts; none for parts of files, which follow their files."""
    if said.kind is Kind.FILE_CHUNK:
        return []
    return sorted({mark for salt in salts for text in said.texts for mark in signature(salt, text)})


def _hash(salt: str, what: str, text: str) -> str:
    digest = hmac.digest(bytes.fromhex(salt), f"{what}\0{text}".encode(), hashlib.sha256)
    return digest.hex()[:_HASH_DIGITS]


def _sentence(subject: str | None = None, predicate: str | None = None, object_: str | None = None) -> tuple[str, ...]:
    return (f"{subject} {predicate} {object_}",) if subject and predicate and object_ else ()
