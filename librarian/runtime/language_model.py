"""The language model of a Librarian, by its settings."""

from librarian.base import tracing
from librarian.base.settings.settings import LlmSettings
from librarian_agents.chat.client import OpenAIChat


def chat_model(llm: LlmSettings) -> OpenAIChat | None:
    """Return the configured model; None where there is none. Nothing is loaded or asked before it is used."""
    return None if llm.config is None else OpenAIChat(llm.config, tracing.outgoing)
