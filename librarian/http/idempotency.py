"""`Idempotency-Key`: a write sent twice runs once, and both requests get the same answer.

A key is recorded in the graph, so that it applies to all replicas and after a restart. It belongs to one API key and
namespace. While the request runs, its record is renewed; when its process dies, the record soon expires.
"""

import asyncio
import contextlib
import hashlib
import logging
import re
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from graph.errors import GraphError
from graph.executor import Executor, deadline
from graph.feed import delete_old_changes
from graph.idempotency import Claim, Claimed, answer_key, claim_key, delete_expired_keys, release_key, renew_key
from librarian.app import Librarian
from librarian.base import problems
from librarian.base.errors import IdempotencyKeyReused, InvalidInput, LibrarianError, RequestInProgress
from librarian.base.keys import ApiKey
from librarian.http.responses import error_response

KEY_HEADER = "Idempotency-Key"
REPLAYED_HEADER = "Idempotency-Replayed"
MAX_KEPT_BYTES = 2**20

# A retry after a crash of the service waits at most this long.
LEASE_S = 10
_RENEW_EVERY_S = 3.0
# Settling a record must not delay an answer or a shutdown; an unsettled one expires.
_SETTLE_S = 2.0
_FORGET_EVERY_S = 600.0
_USABLE_KEY = re.compile(r"[\x21-\x7e]{1,255}")

log = logging.getLogger("librarian.http.idempotency")


class Kept(msgspec.Struct, frozen=True):
    """An answer as stored in the record."""

    status: int
    headers: dict[str, str]
    body: str


def key_of(request: Request) -> str | None:
    """Return the key that the client sent, or None. Raises InvalidInput."""
    sent = request.headers.getlist(KEY_HEADER)
    if not sent:
        return None
    if len(sent) > 1 or not _USABLE_KEY.fullmatch(sent[0]):
        raise InvalidInput("it must be 1 to 255 visible ASCII characters, once", field=KEY_HEADER)
    return sent[0]


async def claim_of(request: Request, key: str, caller: ApiKey, namespace: str) -> Claim:
    """Return the claim of `request`, whose whole body is read to distinguish it from other requests."""
    identity = (
        request.method,
        request.scope["raw_path"].decode("ascii", "replace"),
        request.scope["query_string"].decode("ascii", "replace"),
        request.headers.get("if-match"),
        hashlib.sha256(await request.body()).hexdigest(),
    )
    digest = hashlib.sha256(msgspec.json.encode(identity)).hexdigest()
    return Claim(namespace, f"{caller.id} {key}", uuid.uuid4().hex, digest)


async def answer_once(
    executor: Executor, claim: Claim, keep_s: int, work: Callable[[], Awaitable[Response]], *, request_id: str
) -> Response:
    """Return the answer of `work`, or the recorded one if the same request ran before.

    Permanent errors are kept like answers; after any other error, or when the client has gone, the key is released.
    Raises IdempotencyKeyReused, RequestInProgress, and the errors of `work`.
    """
    claimed = await _claimed(executor, claim)
    if not claimed.granted:
        return _replayed(claim, claimed)
    try:
        async with _renewed(executor, claim):
            response = await _final(work, request_id)
    except BaseException:
        await _settle(release_key(executor, claim))
        raise
    kept = _kept(response)
    await _settle(answer_key(executor, claim, kept, keep_s) if kept else release_key(executor, claim))
    return response


async def forget_expired(librarian: Librarian, changes_hours: int) -> None:
    """Remove expired records and old changes periodically, until cancelled."""
    while True:
        await asyncio.sleep(_FORGET_EVERY_S)
        error = await problems.caught(_forget(librarian, changes_hours))
        if error is not None:
            log.info("expired idempotency records were not removed: %s", type(error).__name__)


async def _forget(librarian: Librarian, changes_hours: int) -> None:
    await delete_expired_keys(librarian.parts.executor)
    await delete_old_changes(librarian.parts.executor, changes_hours)


async def _claimed(executor: Executor, claim: Claim) -> Claimed:
    claiming = asyncio.create_task(claim_key(executor, claim, LEASE_S))
    try:
        return await asyncio.shield(claiming)
    except BaseException:
        await _settle(_taken_back(executor, claim, claiming))
        raise


async def _taken_back(executor: Executor, claim: Claim, claiming: "asyncio.Task[Claimed]") -> None:
    """Release a key whose claim may still be granted, once that is settled: the server completes an abandoned
    statement, possibly after the one sent next.
    """
    await asyncio.wait([claiming])
    await release_key(executor, claim)


async def _final(work: Callable[[], Awaitable[Response]], request_id: str) -> Response:
    try:
        return await work()
    except LibrarianError as error:
        if problems.is_retryable(error) or problems.rule_of(error).status >= 500:
            raise
        return error_response(error, request_id=request_id)


def _replayed(claim: Claim, found: Claimed) -> Response:
    if found.request_hash != claim.request_hash:
        raise IdempotencyKeyReused(
            "This Idempotency-Key was sent with another request.", field=KEY_HEADER, remedy="Send a new key."
        )
    if found.response is None:
        raise RequestInProgress(remedy="Send the same again for its answer.")
    kept = msgspec.json.decode(found.response, type=Kept)
    return Response(kept.body.encode(), kept.status, {**kept.headers, REPLAYED_HEADER: "true"})


def _kept(response: Response) -> str | None:
    """Return the answer as text for the record; None for one too large to keep."""
    body = bytes(response.body)
    if len(body) > MAX_KEPT_BYTES:
        return None
    headers = {name: value for name, value in response.headers.items() if name != "content-length"}
    return msgspec.json.encode(Kept(response.status_code, headers, body.decode())).decode()


@contextlib.asynccontextmanager
async def _renewed(executor: Executor, claim: Claim) -> AsyncIterator[None]:
    """Hold the key while the block runs."""
    renewing = asyncio.create_task(_renew(executor, claim))
    try:
        yield
    finally:
        renewing.cancel()


async def _renew(executor: Executor, claim: Claim) -> None:
    deadline.set(None)
    while True:
        await asyncio.sleep(_RENEW_EVERY_S)
        with contextlib.suppress(GraphError):
            await renew_key(executor, claim, LEASE_S)


async def _settle(change: Coroutine[Any, Any, None]) -> None:
    """Settle a record and wait for it, even if the request is cancelled or past its deadline; otherwise a repetition
    after its answer would find the key in use.
    """
    task = asyncio.create_task(_bounded(change))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


async def _bounded(change: Coroutine[Any, Any, None]) -> None:
    deadline.set(None)
    try:
        async with asyncio.timeout(_SETTLE_S):
            await change
    except (GraphError, TimeoutError) as error:
        log.warning("an idempotency record was left to expire: %s", type(error).__name__)
