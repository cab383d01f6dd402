"""Errors of the clients.

ApiError                the service refused, or could not do what was asked
└── ServiceUnreachable  no answer came
"""


class ApiError(Exception):
    """What the service said of a request that failed (its problem+json).

    `code` is stable and made for programs; `field` names what of the request is wrong; `remedy` is for the caller;
    `retry_after_s` are the seconds after which the same may succeed. The message is the problem's detail.
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
    """No answer came from the service; `status` is 0. A write that was sent may have been carried out."""

    def __init__(self, detail: str, *, remedy: str | None = None) -> None:
        super().__init__(0, "service_unreachable", detail, remedy=remedy)
