"""The change feed on the wire."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from librarian.base.fields import EdgeId, EdgeType, Time, Uid

ChangeAction = Literal[
    "added",
    "changed",
    "ended",
    "superseded",
    "reopened",
    "forgotten",
    "deleted",
    "proposed",
    "accepted",
    "rejected",
]
ChangedKind = Literal["message", "fact", "memory", "file_chunk", "file", "edge"]
ChangeCursor = Annotated[
    str,
    Meta(
        pattern=r"^(0|[0-9]{1,18}-[0-9a-f]{8})$",
        description="A place in the feed: the `cursor` of a change or of a page, or 0 for the beginning.",
    ),
]


class ChangeQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Which changes to read: those behind `after`; without it none, and the answer says where the feed stands."""

    after: ChangeCursor | None = None
    limit: Annotated[int, Meta(ge=1, le=500, description="How many changes a page has at most.")] = 100


class ChangeOut(Struct, kw_only=True, omit_defaults=True):
    """What became of one thing; its text is read with the item, where there still is one.

    `seq` counts the changes of the namespace without a gap, in the order in which they were committed. `uid` is that of
    an item, the path of a file or the id of an edge; an edge also says its `type` and which items it connects.
    """

    seq: int
    cursor: ChangeCursor
    at: Time
    action: ChangeAction
    kind: ChangedKind
    uid: Uid | EdgeId
    type: EdgeType | Literal["SUPERSEDES"] | None = None
    source: Uid | None = None
    target: Uid | None = None


class ChangeList(Struct, kw_only=True):
    """One page in the order of `seq`; `cursor` is the place behind it, and `more` says that changes follow."""

    changes: list[ChangeOut]
    cursor: ChangeCursor
    more: bool


class FeedPosition(Struct, kw_only=True):
    """Where a stream of changes begins."""

    cursor: ChangeCursor


WebhookId = Annotated[str, Meta(min_length=1, max_length=100, description="Id of a webhook.")]
WebhookUrl = Annotated[
    str,
    Meta(
        min_length=8, max_length=2000, description="Where changes are sent: https, and no address of a private network."
    ),
]
WebhookKinds = Annotated[
    list[ChangedKind], Meta(min_length=1, max_length=6, description="The kinds of things whose changes are sent.")
]


class WebhookIn(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A webhook to be registered; without `kinds` it is sent every change."""

    url: WebhookUrl
    kinds: WebhookKinds | None = None


class WebhookOut(Struct, kw_only=True):
    """A webhook, and how its deliveries fare. It has sent what was changed up to `cursor`.

    `state` is active, or paused: nothing was taken for too long, and nothing is sent until a test delivery is taken.
    `last_error` says in a word why the last delivery was not taken: status, timeout, connection, address_refused,
    changes_gone.
    """

    webhook_id: WebhookId
    url: str
    kinds: list[ChangedKind] | None
    state: Literal["active", "paused"]
    cursor: ChangeCursor
    failures: int
    failing_since: Time | None
    next_attempt_at: Time | None
    last_status: int | None
    last_error: str | None
    created_at: Time
    delivered_at: Time | None


class WebhookCreated(Struct, kw_only=True):
    """A new webhook, and the secret that its deliveries are signed with: it is not shown again."""

    webhook: WebhookOut
    secret: str


class WebhookList(Struct, kw_only=True):
    """The webhooks of a namespace, the oldest first."""

    webhooks: list[WebhookOut]


class WebhookTest(Struct, kw_only=True):
    """What became of a test delivery: the receiver's status, or why there is none.

    `changes_gone` says that what the webhook had not sent is not kept any more: it goes on from now, and the receiver
    has to read anew what there is.
    """

    delivered: bool
    status: int | None
    error: str | None
    changes_gone: bool
