"""The language model of a Librarian, by its settings."""

from agents.chat import OpenAIChat
from librarian import tracing
from librarian.setting_assistants import LlmSettings


def chat_model(llm: LlmSettings) -> OpenAIChat | None:
    """The configured model; None where there is none. Nothing is loaded or asked before it is used."""
    return None if llm.config is None else OpenAIChat(llm.config, tracing.outgoing)
