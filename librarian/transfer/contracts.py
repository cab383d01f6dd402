"""What an export holds, line by line, and what is told of making and reading one.

The first line is the header, then come the rows of each namespace behind the line that names it, and last the footer.
Property values are JSON; times and what else JSON lacks are objects with one tagged member (`graph.portable`).
"""

from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from librarian.base.fields import Kind
from librarian.items.contracts import EvenIfForgotten

FORMAT = "librarian-export"
VERSION = 1

Existing = Annotated[
    Literal["refuse", "skip", "replace"],
    Meta(
        description="What to do where the namespace holds something: refuse; skip what is there and add the rest;"
        " replace: delete it first."
    ),
]
Properties: TypeAlias = dict[str, Any]
EdgeLabel = Literal["EVIDENCED_BY", "SUPERSEDES", "CAUSES", "BLOCKS", "ENABLES", "RELATES_TO", "PROPOSED"]


class _Row(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True, tag_field="row", gc=False):
    """One line."""


class SpaceRow(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """An embedding space that vectors of the file belong to."""

    space: str
    model: str
    dimension: Annotated[int, Meta(ge=1, le=100_000)]
    text_form: str
    normalised: bool
    revision: str


class Holding(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """A namespace of the file, and its items by kind when the export began."""

    namespace: str
    items: dict[Kind, int]


class HeaderRow(_Row, tag="header"):
    """The first line. `librarian` and `schema` are the versions of what wrote it."""

    format: str
    version: int
    librarian: str
    schema: str
    vectors: bool
    spaces: list[SpaceRow]
    namespaces: list[Holding]


class NamespaceRow(_Row, tag="namespace"):
    """The rows behind it are of this namespace."""

    namespace: str


class ConversationRow(_Row, tag="conversation"):
    """A conversation; the order of its messages is made anew."""

    id: str
    properties: Properties


class PersonRow(_Row, tag="person"):
    """Somebody whom facts are about."""

    id: str
    properties: Properties


class FileRow(_Row, tag="file"):
    """An indexed file and what it defines."""

    path: str
    properties: Properties
    symbols: list[Properties]


class VectorPart(Struct, forbid_unknown_fields=True, kw_only=True):
    """One vector of an item, as base64 of little-endian 32-bit floats."""

    space: str
    role: Literal["passage", "window"]
    ordinal: int
    vector: str


class Refusal(Struct, forbid_unknown_fields=True, kw_only=True):
    """The encoder of a space took no vector of this version of an item; `language`, where it does not read that one."""

    space: str
    version: int
    language: str | None = None


class ItemRow(_Row, tag="item"):
    """An item with its history, its citations, and its vectors where the file holds them."""

    uid: str
    kind: Kind
    properties: Properties
    conversation: str | None = None
    person: str | None = None
    file: str | None = None
    labels: list[Literal["CjkText", "UnresolvedReferences"]] = []
    citations: list[Properties] = []
    revisions: list[Properties] = []
    vectors: list[VectorPart] = []
    refused: list[Refusal] = []


class SweepRow(_Row, tag="sweep"):
    """A run of the sweep."""

    id: str
    properties: Properties


class ChangeRow(_Row, tag="change"):
    """What a run did to a memory, or proposes."""

    sweep: str
    uid: str
    properties: Properties


class EdgeRow(_Row, tag="edge"):
    """A relationship between two items."""

    source: str
    type: EdgeLabel
    target: str
    properties: Properties


class TombstoneRow(_Row, tag="tombstone"):
    """That an item was forgotten: hashes of its uid and of what it said, and the salts to make them with."""

    identity: str
    properties: Properties
    marks: list[str]
    salts: list[Annotated[str, Meta(pattern="^([0-9a-f]{2}){8,64}$")]]


class FooterRow(_Row, tag="end"):
    """The last line: how many rows of what stand before it, and the SHA-256 of all lines before it."""

    rows: dict[str, int]
    sha256: str


DataRow: TypeAlias = ConversationRow | PersonRow | FileRow | ItemRow | SweepRow | ChangeRow | EdgeRow | TombstoneRow
AnyRow: TypeAlias = HeaderRow | NamespaceRow | DataRow | FooterRow

ROWS: dict[str, type[_Row]] = {
    "conversation": ConversationRow,
    "person": PersonRow,
    "file": FileRow,
    "item": ItemRow,
    "sweep": SweepRow,
    "change": ChangeRow,
    "edge": EdgeRow,
    "tombstone": TombstoneRow,
}
"""The rows between header and footer by their name."""


class ExportReport(Struct, kw_only=True):
    """An export that was made. `exact`: nothing of what was there at `moment` changed while it was read; otherwise what
    changed is in it as before or as after. `rows` counts what it holds, `bytes` is the size of the file.
    """

    namespaces: list[str]
    rows: dict[str, int]
    sha256: str
    moment: datetime
    exact: bool
    bytes: int
    file: str | None = None


class ImportReport(Struct, kw_only=True):
    """An import that is complete. `created` counts what it wrote; `skipped` what was there already or, of an edge,
    lacked an end. `held_back` items were forgotten before and are not stored; `held_back_uids` names the first 1,000.
    What is `resembling` is stored: it may say in other words what was forgotten, which is for a human to judge.
    `resumed`: an earlier run had begun it, whose rows are not counted.
    """

    namespaces: list[str]
    created: dict[str, int]
    skipped: dict[str, int] = msgspec.field(default_factory=dict)
    resumed: bool = False
    pending_embeddings: int = 0
    held_back: int = 0
    held_back_uids: list[str] = msgspec.field(default_factory=list)
    resembling: int = 0
    resembling_uids: list[str] = msgspec.field(default_factory=list)


class ImportNamespaceQuery(Struct, forbid_unknown_fields=True, kw_only=True):
    """What to do where the namespace holds something, and with what was forgotten there before."""

    existing: Existing = "refuse"
    even_if_forgotten: EvenIfForgotten = False


class ExportNamespaceQuery(Struct, forbid_unknown_fields=True, kw_only=True):
    """What the export holds beside everything else."""

    vectors: Annotated[
        bool, Meta(description="With the vectors. Without them they are made anew where it is imported.")
    ] = False


class BackupReport(Struct, kw_only=True):
    """A backup that was made, and the older ones that were deleted after it. `rows` and `exact` as of an export."""

    file: str
    kind: Literal["export", "dump"]
    bytes: int
    sha256: str
    removed: list[str]
    rows: dict[str, int] = msgspec.field(default_factory=dict)
    exact: bool = True


class RestoreReport(Struct, kw_only=True):
    """A restore that is complete; `safety_backup` holds what was there before."""

    restored: ImportReport
    safety_backup: str | None = None
