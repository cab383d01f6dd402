import pytest

from librarian.base.errors import SettingsError
from librarian.base.settings.settings import Settings
from librarian.runtime.language_model import chat_model


def test_without_an_address_there_is_no_model():
    assert chat_model(Settings.from_env({"LLM_MODEL": "m", "LLM_API_KEY": "k"}).llm) is None


def test_an_address_needs_a_model():
    with pytest.raises(SettingsError) as raised:
        Settings.from_env({"LLM_BASE_URL": "http://127.0.0.1:1/v1"})
    assert raised.value.field == "LLM_MODEL"


def test_the_settings_reach_the_model_and_the_key_is_not_shown():
    env = {"LLM_BASE_URL": "http://127.0.0.1:1/v1", "LLM_MODEL": "m", "LLM_API_KEY": "s3cret", "LLM_TIMEOUT": "5"}
    llm = Settings.from_env(env).llm
    assert (llm.config.model, llm.config.intent, llm.config.api_key, llm.timeout_s) == ("m", "librarian", "s3cret", 5.0)
    assert "s3cret" not in repr(llm)
    assert chat_model(llm).name == "m"


async def test_openai_s_own_variables_mean_nothing(monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    monkeypatch.setenv("OPENAI_API_KEY", "other")
    model = chat_model(Settings.from_env({"LLM_BASE_URL": "http://127.0.0.1:1/v1", "LLM_MODEL": "m"}).llm)
    headers = {name: value for name, value in model._client.default_headers.items() if isinstance(value, str)}
    await model.aclose()
    assert not {"OpenAI-Organization", "OpenAI-Project"} & set(headers)
    assert model._client.api_key == "none"
