"""Errors of encoding texts.

EncoderError
├── EncoderUnavailable     the embeddings server does not answer or is busy (retryable)
├── EncoderMisconfigured   the encoder cannot work with its settings
├── EncoderRejectedText    the embeddings server refuses a text
└── InvalidVectors         the model did not return one usable vector per text

No message contains a text or an API key.
"""

from typing import ClassVar


class EncoderError(Exception):
    """The encoder could not do what was asked."""

    code: ClassVar[str] = "encoder_error"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class EncoderUnavailable(EncoderError):
    """The embeddings server does not answer. Start it, or try again in a few seconds."""

    code = "encoder_unavailable"
    retryable = True


class EncoderMisconfigured(EncoderError):
    """The encoder cannot work as it is set up. Check LIBRARIAN_ENCODER."""

    code = "encoder_misconfigured"


class EncoderRejectedText(EncoderError):
    """The embeddings server refused a text, for instance because it is too long for the model."""

    code = "encoder_rejected_text"


class InvalidVectors(EncoderError):
    """The model returned something that is not one usable vector a text. Check that it is an embedding model."""

    code = "invalid_vectors"
