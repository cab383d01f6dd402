"""Errors of the shell.

LibrarianError
├── InvalidInput          a field the caller sent (400)
├── PayloadTooLarge       body, batch or text over a limit (413)
├── UnsupportedMediaType  a content type that no route reads (415)
├── Unauthenticated       no key, or an invalid one (401)
├── Forbidden             a valid key without the right (403)
├── NotFound              no such item in this namespace (404)
├── Conflict              the stored data contradicts the request (409)
├── PreconditionFailed    the item is not at the version the caller has seen (412)
├── IdempotencyKeyReused  one Idempotency-Key, two different requests (422)
├── RequestInProgress     the first request with this Idempotency-Key is still running (409)
├── TooManyRequests       over the key's rate limit (429)
├── Overloaded            more concurrent requests than the service accepts (503)
├── DeadlineExceeded      the request's time is up (504)
├── NotReady              the graph is starting, recovering or gone (503)
├── SettingsError         an environment variable with an invalid value
├── KeysFileError         the key file cannot be read or written
├── InvalidExport         not a complete export, dump or backup of ours
└── CannotWrite           a full disk, or a folder that cannot be written

ApiError                  a service refused a client's request, or could not do what was asked
└── ServiceUnreachable    no answer came

Each carries a stable `code` and, where there is one, a remedy.
"""

from typing import ClassVar


class LibrarianError(Exception):
    """Librarian could not do what was asked."""

    code: ClassVar[str] = "librarian_error"
    challenge: str | None = None
    """Value of WWW-Authenticate in the HTTP response: how to log in, and for which scope."""

    def __init__(self, message: str | None = None, *, field: str | None = None, remedy: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())
        self.field = field
        self.remedy = remedy


class InvalidInput(LibrarianError):
    """The request contains an invalid value."""

    code = "invalid_input"


class PayloadTooLarge(LibrarianError):
    """The request is larger than the service accepts."""

    code = "payload_too_large"


class UnsupportedMediaType(LibrarianError):
    """The content type is not one this route reads."""

    code = "unsupported_media_type"


class Unauthenticated(LibrarianError):
    """No valid API key was sent."""

    code = "unauthenticated"


class Forbidden(LibrarianError):
    """The API key does not give this right."""

    code = "forbidden"


class NotFound(LibrarianError):
    """Not found."""

    code = "not_found"


class Conflict(LibrarianError):
    """The stored data contradicts the request."""

    code = "conflict"


class PreconditionFailed(LibrarianError):
    """The item was changed since the caller read it."""

    code = "precondition_failed"


class IdempotencyKeyReused(LibrarianError):
    """The Idempotency-Key belongs to another request."""

    code = "idempotency_key_reused"


class _Retryable(LibrarianError):
    """Try again after `retry_after_s` seconds."""

    def __init__(self, message: str | None = None, *, retry_after_s: int = 1, remedy: str | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.retry_after_s = retry_after_s


class RequestInProgress(_Retryable):
    """The first request with this Idempotency-Key is still running."""

    code = "request_in_progress"


class TooManyRequests(_Retryable):
    """Too many requests at the moment."""

    code = "too_many_requests"


class Overloaded(_Retryable):
    """More concurrent requests than the service accepts."""

    code = "overloaded"


class DeadlineExceeded(_Retryable):
    """The request's deadline passed before the answer was complete."""

    code = "deadline_exceeded"


class NotReady(_Retryable):
    """The graph is not ready yet."""

    code = "not_ready"

    def __init__(self, message: str | None = None, *, phase: str = "starting", retry_after_s: int = 2) -> None:
        super().__init__(message, retry_after_s=retry_after_s)
        self.phase = phase


class SettingsError(LibrarianError):
    """A setting has an invalid value."""

    code = "invalid_setting"


class KeysFileError(LibrarianError):
    """The key file cannot be used."""

    code = "keys_file"


class InvalidExport(LibrarianError):
    """The file is not a complete Librarian export."""

    code = "invalid_export"


class CannotWrite(LibrarianError):
    """A file cannot be written."""

    code = "cannot_write"


class ApiError(Exception):
    """The service refused a request or could not answer it; the error carries its problem+json.

    `code` is stable and made for programs; `field` names the faulty part of the request; `remedy` is for the caller;
    `retry_after_s` is the number of seconds after which a retry may succeed. The message is the problem's detail.
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        field: str | None = None,
        remedy: str | None = None,
        request_id: str | None = None,
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.field = field
        self.remedy = remedy
        self.request_id = request_id
        self.retry_after_s = retry_after_s


class ServiceUnreachable(ApiError):
    """The service did not answer; `status` is 0. A write may still have been carried out."""

    def __init__(self, detail: str, *, remedy: str | None = None) -> None:
        super().__init__(0, "service_unreachable", detail, remedy=remedy)
