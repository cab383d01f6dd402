"""Records of requests that may be sent twice: the claim on a key, and the response."""

from dataclasses import dataclass

from graph.executor import Executor

_DELETED_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Claim:
    """An attempt to run the request that `key` stands for in `namespace`.

    `owner` is unique to the attempt; `request_hash` tells the request from others with the same key.
    """

    namespace: str
    key: str
    owner: str
    request_hash: str


@dataclass(frozen=True, slots=True)
class Claimed:
    """Outcome of a claim. If it was not `granted`, the key belongs to the request with `request_hash`, whose `response`
    is None while it runs.
    """

    granted: bool
    request_hash: str
    response: str | None


async def claim_key(executor: Executor, claim: Claim, lease_s: int) -> Claimed:
    """Claim the key for `lease_s` seconds unless another request holds it."""
    (row,) = await executor.write(
        "claim_idempotency_key", {**_owned(claim), "request_hash": claim.request_hash, "lease_s": lease_s}
    )
    return Claimed(row["claimed"], row["request_hash"], row["response"])


async def renew_key(executor: Executor, claim: Claim, lease_s: int) -> None:
    """Extend the claim by `lease_s` seconds from now."""
    await executor.write("renew_idempotency_key", {**_owned(claim), "lease_s": lease_s})


async def answer_key(executor: Executor, claim: Claim, response: str, keep_s: int) -> None:
    """Keep the response for `keep_s` seconds; no effect if the key was lost to another request."""
    await executor.write("answer_idempotency_key", {**_owned(claim), "response": response, "keep_s": keep_s})


async def release_key(executor: Executor, claim: Claim) -> None:
    """Delete the key of a request that has no response to keep."""
    await executor.write("release_idempotency_key", _owned(claim))


async def delete_expired_keys(executor: Executor) -> None:
    """Delete expired keys of all namespaces."""
    while True:
        (row,) = await executor.write("delete_expired_idempotency_keys", {"limit": _DELETED_AT_ONCE})
        if row["deleted"] < _DELETED_AT_ONCE:
            return


def _owned(claim: Claim) -> dict[str, str]:
    return {"namespace": claim.namespace, "key": claim.key, "owner": claim.owner}
