"""Lines of an export, and reports of writing and reading one.

The first line is the header, then each namespace's line is followed by its rows, and last comes the footer. Property
values are JSON; times and other types that JSON lacks are objects with one tagged member (`graph.portable`).
"""

from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias, get_args

import msgspec
from msgspec import Meta, Struct

from librarian.base.fields import Kind
from librarian.items.contracts import EvenIfForgotten

FORMAT = "librarian-export"
VERSION = 1

Existing = Annotated[
    Literal["refuse", "skip", "replace"],
    Meta(
        description="If the namespace is not empty: refuse; skip: keep existing items and add the rest;"
        " replace: delete it first."
    ),
]
Properties: TypeAlias = dict[str, Any]
EdgeLabel = Literal["EVIDENCED_BY", "SUPERSEDES", "CAUSES", "BLOCKS", "ENABLES", "RELATES_TO", "PROPOSED"]


class _Row(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True, tag_field="row", gc=False):
    """One line."""


class SpaceRow(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """An embedding space of vectors in the file."""

    space: str
    model: str
    dimension: Annotated[int, Meta(ge=1, le=100_000)]
    text_form: str
    normalised: bool
    revision: str


class Holding(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """A namespace of the file, with its item counts by kind when the export began."""

    namespace: str
    items: dict[Kind, int]


class HeaderRow(_Row, tag="header"):
    """The first line. `librarian` and `schema` are the versions of the program that wrote it."""

    format: str
    version: int
    librarian: str
    schema: str
    vectors: bool
    spaces: list[SpaceRow]
    namespaces: list[Holding]


class NamespaceRow(_Row, tag="namespace"):
    """The rows after it belong to this namespace."""

    namespace: str


class ConversationRow(_Row, tag="conversation"):
    """A conversation; the order of its messages is rebuilt on import."""

    id: str
    properties: Properties


class PersonRow(_Row, tag="person"):
    """A person whom facts are about."""

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
    """The encoder of a space made no vector for this version of an item; `language` if it does not read that one."""

    space: str
    version: int
    language: str | None = None


class ItemRow(_Row, tag="item"):
    """An item with its history, its citations, and its vectors if the file includes them."""

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
    """A change that a run made to a memory, or proposes."""

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
    """The tombstone of a forgotten item: salted hashes of its uid and contents, with the salts."""

    identity: str
    properties: Properties
    marks: list[str]
    salts: list[Annotated[str, Meta(pattern="^([0-9a-f]{2}){8,64}$")]]


class FooterRow(_Row, tag="end"):
    """The last line: the number of rows of each type, and the SHA-256 of all lines before it."""

    rows: dict[str, int]
    sha256: str


DataRow: TypeAlias = ConversationRow | PersonRow | FileRow | ItemRow | SweepRow | ChangeRow | EdgeRow | TombstoneRow
AnyRow: TypeAlias = HeaderRow | NamespaceRow | DataRow | FooterRow

ROWS: dict[str, type[_Row]] = {row.__struct_config__.tag: row for row in get_args(DataRow)}
"""The row types between header and footer, by name."""


class ExportReport(Struct, kw_only=True):
    """A finished export. `exact`: nothing that existed at `moment` changed while it was read; otherwise the file holds
    each changed item in its state before or after. `rows` counts its rows, `bytes` is the size of the file.
    """

    namespaces: list[str]
    rows: dict[str, int]
    sha256: str
    moment: datetime
    exact: bool
    bytes: int
    file: str | None = None


class ImportReport(Struct, kw_only=True):
    """A finished import. `created` counts what it wrote; `skipped` what existed already, and edges that lacked an end.
    `held_back` items were forgotten before and are not stored; `held_back_uids` names the first 1,000. `resembling`
    items are stored, but may restate something forgotten, which is for a human to judge. `resumed`: an earlier run had
    begun it, whose rows are not counted.
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
    """How to treat a namespace that is not empty, and items forgotten there before."""

    existing: Existing = "refuse"
    even_if_forgotten: EvenIfForgotten = False


class ExportNamespaceQuery(Struct, forbid_unknown_fields=True, kw_only=True):
    """Optional contents of the export."""

    vectors: Annotated[bool, Meta(description="Include the vectors; without them the import computes them again.")] = (
        False
    )


class BackupReport(Struct, kw_only=True):
    """A finished backup, and the older ones deleted after it. `rows` and `exact` as of an export."""

    file: str
    kind: Literal["export", "dump"]
    bytes: int
    sha256: str
    removed: list[str]
    rows: dict[str, int] = msgspec.field(default_factory=dict)
    exact: bool = True


class RestoreReport(Struct, kw_only=True):
    """A finished restore; `safety_backup` holds the previous contents."""

    restored: ImportReport
    safety_backup: str | None = None
