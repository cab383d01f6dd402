"""Errors of scoring pairs of a query and a text.

RerankerError
├── RerankerUnavailable     the server does not answer, is busy or loads its model (retryable)
│   └── RerankerBroke       the server fails on a request; perhaps on this text alone
├── RerankerMisconfigured   the reranker cannot work with its settings
├── RerankerRejectedText    the server refuses a request, for instance because it is too long
└── InvalidScores           the response cannot be used as scores

No message contains a text, an API key or words of the server.
"""

from typing import ClassVar


class RerankerError(Exception):
    """The reranker could not do what was asked."""

    code: ClassVar[str] = "reranker_error"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class RerankerUnavailable(RerankerError):
    """The reranker does not answer. Start it, or try again in a few seconds."""

    code = "reranker_unavailable"
    retryable = True

    def __init__(self, message: str | None = None, *, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class RerankerBroke(RerankerUnavailable):
    """The reranker's server fails at a request. Look at its log."""

    code = "reranker_broke"


class RerankerMisconfigured(RerankerError):
    """The reranker cannot work as it is set up. Check the RERANKER_ settings."""

    code = "reranker_misconfigured"


class RerankerRejectedText(RerankerError):
    """The reranker's server refuses a request, for instance because it is too long for the model."""

    code = "reranker_rejected_text"


class InvalidScores(RerankerError):
    """The reranker's response cannot be used as scores. Check that its model is a reranker."""

    code = "invalid_scores"


TEXT_FAULTS = (RerankerBroke, RerankerRejectedText, InvalidScores)
"""Errors that a single text can cause while the reranker scores others."""
