"""Wire contracts of the change feed."""

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
        description="A position in the feed: the `cursor` of a change or page, or 0 for the beginning.",
    ),
]


class ChangeQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The changes to read: those after `after`; without it none, only the current position."""

    after: ChangeCursor | None = None
    limit: Annotated[int, Meta(ge=1, le=500, description="Maximum number of changes per page.")] = 100


class ChangeOut(Struct, kw_only=True, omit_defaults=True):
    """One change; the text is read with the item, if it still exists.

    `seq` numbers the changes of the namespace without gaps, in commit order. `uid` is that of an item, the path of a
    file or the id of an edge; an edge also has its `type` and its ends.
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
    """One page ordered by `seq`; `cursor` is the position after it; `more`: further changes follow."""

    changes: list[ChangeOut]
    cursor: ChangeCursor
    more: bool


class FeedPosition(Struct, kw_only=True):
    """The position at which a stream of changes begins."""

    cursor: ChangeCursor


WebhookId = Annotated[str, Meta(min_length=1, max_length=100, description="Id of a webhook.")]
WebhookUrl = Annotated[
    str,
    Meta(
        min_length=8,
        max_length=2000,
        description="Address to send changes to: https, not in a private network.",
    ),
]
WebhookKinds = Annotated[
    list[ChangedKind], Meta(min_length=1, max_length=6, description="Kinds of things whose changes are sent.")
]


class WebhookIn(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A webhook to register; without `kinds` it gets every change."""

    url: WebhookUrl
    kinds: WebhookKinds | None = None


class WebhookOut(Struct, kw_only=True):
    """A webhook and the state of its deliveries. It has sent the changes up to `cursor`.

    `state` is active, or paused: deliveries failed for too long, and nothing is sent until a test delivery succeeds.
    `last_error` is the reason why the last delivery failed: status, timeout, connection, address_refused, changes_gone.
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
    """A new webhook with the secret that signs its deliveries, which is not shown again."""

    webhook: WebhookOut
    secret: str


class WebhookList(Struct, kw_only=True):
    """The webhooks of a namespace, oldest first."""

    webhooks: list[WebhookOut]


class WebhookTest(Struct, kw_only=True):
    """Result of a test delivery: the receiver's status, or why there is none.

    `changes_gone`: the changes that the webhook had not sent are no longer kept; it continues from now, and the
    receiver has to read everything again.
    """

    delivered: bool
    status: int | None
    error: str | None
    changes_gone: bool
