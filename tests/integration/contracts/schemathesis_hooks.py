"""Gives meaning to values that no generator can know; schemathesis loads it by its configuration."""

import itertools
import os
import re
import uuid

import schemathesis

NAMESPACE = os.environ["LIBRARIAN_TEST_NAMESPACE"]
VALID_NAMESPACE = re.compile(r"[\w.:@-]{1,128}")
VALID_UID = re.compile(r"[^\s/\\]{1,200}")
VALID_TIMEOUT = re.compile(r"[1-9][0-9]{0,8}")
VALID_KEY = re.compile(r"[!-~]{1,200}")
PATIENT_MS = "60000"

run, numbers = uuid.uuid4().hex[:8], itertools.count()


@schemathesis.hook
def before_call(context, case, kwargs):
    """Replace what is valid but would end every request early; what is invalid stays as it is."""
    headers = case.headers
    if VALID_NAMESPACE.fullmatch(headers.get("Librarian-Namespace", "")):
        headers["Librarian-Namespace"] = NAMESPACE
    if VALID_TIMEOUT.fullmatch(headers.get("Request-Timeout-Ms", "")):
        headers["Request-Timeout-Ms"] = PATIENT_MS
    if VALID_KEY.fullmatch(headers.get("Idempotency-Key", "")):
        headers["Idempotency-Key"] += f"-{run}-{next(numbers)}"  # else it was sent with another request before
    if case.meta is not None and case.meta.generation.mode.is_positive:
        headers.pop("Librarian-Bookmark", None)  # only an answer can make one; the generator misses the pattern too
    if "namespace" in case.path_parameters and VALID_NAMESPACE.fullmatch(case.path_parameters["namespace"]):
        case.path_parameters["namespace"] = NAMESPACE
    if isinstance(case.query, dict) and 1 <= len(str(case.query.get("cursor") or "")) <= 2000:
        del case.query["cursor"]  # only an answer can make one
    case.body = whole(case.body)
    for row in case.body if isinstance(case.body, list) else [case.body]:
        if isinstance(row, dict) and case.operation.path.startswith("/v1/items"):
            fit(row, case.path_parameters.get("uid"))


def whole(value):
    """The value with 41.0 as 41: one number to JSON Schema, while the service wants integers written as such."""
    if isinstance(value, dict):
        return {name: whole(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [whole(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def fit(row, uid):
    """Let a row name the request's own namespace and item."""
    if isinstance(row.get("namespace"), str) and VALID_NAMESPACE.fullmatch(row["namespace"]):
        row["namespace"] = NAMESPACE
    if isinstance(row.get("uid"), str) and isinstance(uid, str) and VALID_UID.fullmatch(row["uid"]):
        row["uid"] = uid


@schemathesis.serializer("application/x-ndjson", "application/ndjson", "application/jsonl")
def lines(context, value):
    """The text itself."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
