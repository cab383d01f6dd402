"""The table from error classes to HTTP problems (RFC 9457) and exit codes, and the last guards around everything.

Exit codes follow sysexits.h: 64 usage, 65 data, 66 not found, 69 unavailable, 70 defect, 73 cannot write, 75 try again,
77 no permission, 78 configuration. A class without a row inherits its base's; a test demands a row for each.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import TypeVar

from msgspec import Struct

from graph import errors as graph
from graph.local import errors as local
from librarian.base import errors as shell
from librarian_agents import errors as agent
from migrations import errors as migration
from retrieval.encoders import errors as encoder
from retrieval.rerankers import errors as reranker

T = TypeVar("T")

CONTENT_TYPE = "application/problem+json"
DEFECT_CODE = "internal_error"
DEFECT_DETAIL = "An error inside Librarian. The log has the details under this request_id."
EXIT_DEFECT = 70
_RETRY_AFTER_S = 5
# Phrases of RFC 9110; Python's differ between versions.
_TITLES = {413: "Content Too Large", 422: "Unprocessable Content"}


@dataclass(frozen=True, slots=True)
class Rule:
    """How one class of errors is reported: HTTP status, stable code, exit code, seconds until a retry may help.

    Details are the error's own message where `public`, else the docstring of its class.
    """

    status: int
    code: str
    exit_code: int
    retry_after_s: int | None = None
    public: bool = True


class Problem(Struct, kw_only=True, omit_defaults=True):
    """The body of a failed request (application/problem+json)."""

    title: str
    status: int
    detail: str
    code: str
    type: str = "about:blank"
    field: str | None = None
    remedy: str | None = None
    request_id: str | None = None


_Coded = type[
    shell.LibrarianError
    | graph.GraphError
    | migration.MigrationError
    | encoder.EncoderError
    | reranker.RerankerError
    | agent.AgentError
]


def _of(error: _Coded, status: int, exit_code: int, *, public: bool = True) -> Rule:
    retry_after_s = _RETRY_AFTER_S if getattr(error, "retryable", False) else None
    return Rule(status, error.code, exit_code, retry_after_s, public)


def _local(code: str, exit_code: int, retry_after_s: int | None = None) -> Rule:
    # Their messages name paths and log lines, which only the operator at a terminal may see.
    return Rule(503, code, exit_code, retry_after_s, public=False)


RULES: dict[type[Exception], Rule] = {
    shell.LibrarianError: _of(shell.LibrarianError, 500, 70),
    shell.InvalidInput: _of(shell.InvalidInput, 400, 65),
    shell.PayloadTooLarge: _of(shell.PayloadTooLarge, 413, 65),
    shell.UnsupportedMediaType: _of(shell.UnsupportedMediaType, 415, 65),
    shell.Unauthenticated: _of(shell.Unauthenticated, 401, 77),
    shell.Forbidden: _of(shell.Forbidden, 403, 77),
    shell.NotFound: _of(shell.NotFound, 404, 66),
    shell.Conflict: _of(shell.Conflict, 409, 65),
    shell.PreconditionFailed: _of(shell.PreconditionFailed, 412, 65),
    shell.IdempotencyKeyReused: _of(shell.IdempotencyKeyReused, 422, 65),
    shell.RequestInProgress: _of(shell.RequestInProgress, 409, 75),
    shell.TooManyRequests: _of(shell.TooManyRequests, 429, 75),
    shell.Overloaded: _of(shell.Overloaded, 503, 75),
    shell.DeadlineExceeded: _of(shell.DeadlineExceeded, 504, 75),
    shell.NotReady: _of(shell.NotReady, 503, 75),
    shell.SettingsError: _of(shell.SettingsError, 500, 78),
    shell.KeysFileError: Rule(500, shell.KeysFileError.code, 78, public=False),
    shell.InvalidExport: _of(shell.InvalidExport, 400, 65),
    shell.CannotWrite: Rule(507, shell.CannotWrite.code, 73, public=False),
    graph.GraphError: _of(graph.GraphError, 500, 70, public=False),
    graph.DatabaseUnavailable: _of(graph.DatabaseUnavailable, 503, 69),
    graph.DatabaseCannotWrite: _of(graph.DatabaseCannotWrite, 503, 69),
    graph.DatabaseBusy: _of(graph.DatabaseBusy, 503, 75),
    graph.TransactionTooLarge: _of(graph.TransactionTooLarge, 413, 65),
    graph.DeletedMeanwhile: _of(graph.DeletedMeanwhile, 503, 75),
    graph.ItemBusy: _of(graph.ItemBusy, 409, 75),
    graph.ItemForgotten: _of(graph.ItemForgotten, 409, 65),
    graph.ChangesGone: _of(graph.ChangesGone, 410, 65),
    graph.LeaseHeld: _of(graph.LeaseHeld, 409, 75),
    graph.LeaseLost: _of(graph.LeaseLost, 409, 75),
    graph.InvalidBookmark: _of(graph.InvalidBookmark, 422, 65),
    graph.BookmarkNotReached: _of(graph.BookmarkNotReached, 503, 75),
    graph.QueryTimeout: _of(graph.QueryTimeout, 504, 75),
    graph.DatabaseAuthFailed: _of(graph.DatabaseAuthFailed, 503, 77),
    graph.UnsupportedServer: _of(graph.UnsupportedServer, 503, 78),
    graph.ConstraintViolated: _of(graph.ConstraintViolated, 409, 65),
    graph.SchemaMismatch: _of(graph.SchemaMismatch, 503, 78),
    graph.SpaceMismatch: _of(graph.SpaceMismatch, 503, 78),
    graph.SpaceIncomplete: _of(graph.SpaceIncomplete, 409, 65),
    graph.StatementFailed: _of(graph.StatementFailed, 500, 70, public=False),
    local.LocalServerError: _local("local_server_error", 70),
    local.HomeRefused: _local("home_refused", 78),
    local.JavaNotFound: _local("java_not_found", 78),
    local.ArtifactError: _local("artifact_error", 69),
    local.NetworkUnavailable: _local("network_unavailable", 69, 60),
    local.ChecksumMismatch: _local("checksum_mismatch", 69),
    local.ServerStartFailed: _local("server_start_failed", 69),
    local.ServerNotRunning: _local("server_not_running", 69, _RETRY_AFTER_S),
    local.ServerTimeout: _local("server_timeout", 75, _RETRY_AFTER_S),
    local.DumpRefused: _local("dump_refused", 65),
    local.DumpFailed: _local("dump_failed", 69),
    migration.MigrationError: _of(migration.MigrationError, 503, 70),
    migration.InvalidMigrationFile: _of(migration.InvalidMigrationFile, 503, 70),
    migration.NewerDatabase: _of(migration.NewerDatabase, 503, 78),
    migration.EditedMigration: _of(migration.EditedMigration, 503, 78),
    migration.MissingMigration: _of(migration.MissingMigration, 503, 78),
    migration.InterruptedMigration: _of(migration.InterruptedMigration, 503, 78),
    migration.UnknownMigration: _of(migration.UnknownMigration, 404, 66),
    migration.MigrationFailed: _of(migration.MigrationFailed, 503, 69),
    migration.MigrationLocked: _of(migration.MigrationLocked, 503, 75),
    migration.LockLost: _of(migration.LockLost, 503, 75),
    encoder.EncoderError: _of(encoder.EncoderError, 500, 70),
    encoder.EncoderUnavailable: _of(encoder.EncoderUnavailable, 503, 69),
    encoder.EncoderMisconfigured: _of(encoder.EncoderMisconfigured, 503, 78),
    encoder.EncoderRejectedText: _of(encoder.EncoderRejectedText, 422, 65),
    encoder.InvalidVectors: _of(encoder.InvalidVectors, 503, 78),
    reranker.RerankerError: _of(reranker.RerankerError, 500, 70),
    reranker.RerankerUnavailable: _of(reranker.RerankerUnavailable, 503, 69),
    reranker.RerankerBroke: _of(reranker.RerankerBroke, 503, 69),
    reranker.RerankerMisconfigured: _of(reranker.RerankerMisconfigured, 503, 78),
    reranker.RerankerRejectedText: _of(reranker.RerankerRejectedText, 422, 65),
    reranker.InvalidScores: _of(reranker.InvalidScores, 503, 78),
    agent.AgentError: _of(agent.AgentError, 500, 70),
    agent.ChatModelError: _of(agent.ChatModelError, 500, 70),
    agent.ChatModelUnavailable: _of(agent.ChatModelUnavailable, 503, 69),
    agent.ChatModelMisconfigured: _of(agent.ChatModelMisconfigured, 503, 78),
    agent.ChatModelRejected: _of(agent.ChatModelRejected, 422, 65),
    agent.UnusableReply: _of(agent.UnusableReply, 502, 69),
    agent.TokenBudgetExhausted: _of(agent.TokenBudgetExhausted, 503, 75),
    agent.ToolError: _of(agent.ToolError, 502, 69),
    agent.ToolRetry: _of(agent.ToolRetry, 503, 69),
    agent.ToolFailed: _of(agent.ToolFailed, 502, 69),
    agent.ToolContractBroken: _of(agent.ToolContractBroken, 502, 76),
    agent.InvalidTrace: _of(agent.InvalidTrace, 400, 65),
    shell.ApiError: Rule(502, "api_error", 69),
    shell.ServiceUnreachable: Rule(503, "service_unreachable", 69, _RETRY_AFTER_S),
}
_DEFECT = Rule(500, DEFECT_CODE, EXIT_DEFECT, public=False)
# A service's error means the same to its client as the local one.
_BY_CODE = {**{rule.code: rule for rule in RULES.values()}, DEFECT_CODE: RULES[shell.LibrarianError]}


def rule_of(error: BaseException) -> Rule:
    """Return the row of the error's class, or of its nearest base with a row; anything else is a defect.

    A client's error has the row of the service's code.
    """
    if isinstance(error, shell.ApiError):
        return _BY_CODE.get(error.code, RULES[shell.ApiError])
    return next((RULES[base] for base in type(error).__mro__ if base in RULES), _DEFECT)


def is_known(error: BaseException) -> bool:
    """Return whether the error is one of ours, whose message is written for users."""
    return rule_of(error) is not _DEFECT


def is_retryable(error: BaseException) -> bool:
    """Return whether the same request may succeed later."""
    return retry_after_s(error) is not None


def retry_after_s(error: BaseException) -> int | None:
    """Return the seconds after which a retry may help, or None where it cannot."""
    own: int | None = getattr(error, "retry_after_s", None)
    return rule_of(error).retry_after_s if own is None else own


def problem_of(error: BaseException, *, request_id: str | None = None) -> Problem:
    """Return the problem sent to a client for the error."""
    rule = rule_of(error)
    return Problem(
        title=title_of(rule.status),
        status=rule.status,
        detail=_detail(error, rule),
        code=rule.code,
        field=getattr(error, "field", None) if rule.public else None,
        remedy=getattr(error, "remedy", None) if rule.public else None,
        request_id=request_id,
    )


def title_of(status: int) -> str:
    """Return the title of problems with this status."""
    return _TITLES.get(status) or HTTPStatus(status).phrase


def message_of(error: BaseException) -> str:
    """Return the message for the operator at a terminal, with the remedy where there is one."""
    if not is_known(error):
        return f"{type(error).__name__} inside Librarian: {error}. LIBRARIAN_LOG_LEVEL=debug shows where."
    field, remedy = getattr(error, "field", None), getattr(error, "remedy", None)
    message = str(error) if field is None or field in str(error) else f"{field}: {error}"
    return f"{message}\n{remedy}" if remedy else message


def _detail(error: BaseException, rule: Rule) -> str:
    if rule is _DEFECT:
        return DEFECT_DETAIL
    return str(error) if rule.public else (type(error).__doc__ or "").strip().splitlines()[0]


async def caught(work: Awaitable[None]) -> Exception | None:
    """Await `work` and return the exception that ended it: the guard of an edge that must always answer."""
    try:
        await work
    except Exception as error:  # noqa: BLE001 - the last guard; every caller reports what it gets
        return error
    return None


def attempt(work: Callable[[], T]) -> T | Exception:
    """Call `work` and return its value, or the exception that ended it: the guard of synchronous work."""
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - the last guard; every caller reports what it gets
        return error
