"""What can go wrong when a language model is asked.

AgentError
└── ChatModelError
    ├── ChatModelUnavailable    it does not answer in time, is busy, or fails (retryable)
    ├── ChatModelMisconfigured  it refuses the key, the model's name or the address
    ├── ChatModelRejected       it refuses this request, for instance because it is too long
    └── UnusableReply           what comes back is no answer

No message holds a prompt, a reply, an API key or words of the server.
"""

from typing import ClassVar


class AgentError(Exception):
    """An agent could not do what was asked."""

    code: ClassVar[str] = "agent_error"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class ChatModelError(AgentError):
    """The language model could not be used."""

    code = "chat_model_error"


class ChatModelUnavailable(ChatModelError):
    """The language model does not answer. Try again in a few seconds."""

    code = "chat_model_unavailable"
    retryable = True


class ChatModelMisconfigured(ChatModelError):
    """The language model cannot be used as it is set up. Check the LLM_ settings."""

    code = "chat_model_misconfigured"


class ChatModelRejected(ChatModelError):
    """The language model refuses the request, for instance because it is too long."""

    code = "chat_model_rejected"


class UnusableReply(ChatModelError):
    """What the language model returns is no answer."""

    code = "unusable_reply"
