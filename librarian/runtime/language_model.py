"""The configured language model of a Librarian."""

from librarian.base import tracing
from librarian.base.settings.settings import LlmSettings
from librarian_agents.chat.client import OpenAIChat


def chat_model(llm: LlmSettings) -> OpenAIChat | None:
    """Return the configured model, or None. Nothing is loaded or requested before its first use."""
    return None if llm.config is None else OpenAIChat(llm.config, tracing.outgoing)
