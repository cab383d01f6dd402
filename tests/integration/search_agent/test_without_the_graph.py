"""With a Professor the search agent answers whatever becomes of the database."""

import asyncio

import httpx
import pytest

from librarian.app import open_agent, open_librarian
from librarian.base.errors import SettingsError
from librarian.base.settings.settings import Settings
from librarian_agents.search import loop

PATH = "/v1/librarian/search-agent"


async def test_the_whole_service_answers_while_its_database_is_away(
    serve_app, keys, agent_key, professor_url, asked, unused_port, tmp_path
):
    """Not ready for anything else, and 200 here."""
    settings = Settings.from_env(
        {
            "LIBRARIAN_HOME": str(tmp_path / "home"),
            "NEO4J_URI": f"bolt://127.0.0.1:{unused_port}",
            "PROFESSOR_SEARCH_URL": professor_url,
        }
    )
    async with (
        open_librarian(settings, purpose="tests", wait=False) as librarian,
        serve_app(librarian, keys) as url,
        httpx.AsyncClient(base_url=url, trust_env=False, headers=agent_key, timeout=60) as client,
    ):
        assert (await client.get("/readyz")).status_code == 503
        assert (await client.post(PATH, json=asked)).status_code == 200


async def test_the_agent_alone_needs_a_professor(tmp_path):
    """Said at the start, with the variable's name."""
    settings = Settings.from_env({"LIBRARIAN_HOME": str(tmp_path / "home")})
    with pytest.raises(SettingsError) as refused:
        async with open_agent(settings):
            pass
    assert refused.value.field == "PROFESSOR_SEARCH_URL"


async def test_a_language_model_that_is_demanded_must_be_configured(professor_url, tmp_path):
    settings = Settings.from_env(
        {
            "LIBRARIAN_HOME": str(tmp_path / "home"),
            "PROFESSOR_SEARCH_URL": professor_url,
            "LIBRARIAN_AGENT_REASONER": "llm",
        }
    )
    with pytest.raises(SettingsError):
        async with open_agent(settings):
            pass


async def test_the_steps_are_loaded_before_the_first_request(professor_url, tmp_path):
    """They take a part of a second, which is the Professor's in a short request."""
    loop.graph.cache_clear()
    settings = Settings.from_env({"LIBRARIAN_HOME": str(tmp_path / "home"), "PROFESSOR_SEARCH_URL": professor_url})
    async with open_agent(settings), asyncio.timeout(60):
        while not loop.graph.cache_info().currsize:
            await asyncio.sleep(0.01)


async def test_an_encoder_comes_where_it_is_asked_for(professor_url, tmp_path, settings):
    """In the background: the agent is usable before, and readiness says when the encoder is there."""
    wanted = Settings.from_env(
        {
            "LIBRARIAN_HOME": str(tmp_path / "home"),
            "LIBRARIAN_CACHE": str(settings.cache),
            "PROFESSOR_SEARCH_URL": professor_url,
            "LIBRARIAN_ENCODER": "onnx",
        }
    )
    async with open_agent(wanted) as librarian:
        assert (await librarian.readiness()).ready
        async with asyncio.timeout(120):
            while (await librarian.readiness()).checks["encoder"] != "ok":
                await asyncio.sleep(0.05)
        assert librarian.lifecycle.loaded_encoder.languages == {"en"}
