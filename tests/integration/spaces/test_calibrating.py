"""The meaning of cosines: measured on the graph's own vectors, per space, kept up to date."""

import asyncio
import json
import os
import time

import pytest

from graph.spaces import list_spaces, sample_noise
from librarian.app import open_librarian
from retrieval.calibration import ENOUGH, calibrated
from retrieval.encoders.language_probe import encode_probes

pytestmark = pytest.mark.slow

PATIENCE_S = 120
TOPICS = ("ferry", "bread", "deploy", "piano", "garden", "invoice", "winter", "doctor", "bicycle", "museum")
PLACES = ("Lisbon", "the kitchen", "Friday", "our office", "the north", "March")
MANY = {f"{topic}{place[-2:]}": f"We talked about the {topic} and {place}." for topic in TOPICS for place in PLACES}
JAPANESE = {f"ja{n}": f"{n}月の請求書について話しました。" for n in range(1, 8)}


@pytest.fixture
async def forgotten(original):
    """The graph without items whose space was never calibrated, as one of an older version."""
    await original.parts.executor.driver.execute_query(
        "MATCH (s:EmbeddingSpace) REMOVE s.calibration_languages, s.calibration_means, s.calibration_deviations, "
        "s.calibration_samples, s.calibration_vectors, s.calibration_version, s.calibrated_at"
    )
    return original


async def recorded(librarian):
    """The calibrations of the Librarian's own space as the graph has them."""
    spaces = {space.space: space for space in await list_spaces(librarian.parts.executor)}
    return spaces[librarian.parts.space.space].calibrations


async def fill(librarian, store):
    assert (await store(librarian, **MANY, **JAPANESE)).added == len(MANY) + len(JAPANESE)
    await librarian.embed_pending()


async def test_a_graph_without_texts_goes_by_the_probes_until_it_has_enough(forgotten, original_settings, store):
    """Opening measures what is missing: on the probes' own passages first, on stored vectors once there are enough."""
    async with open_librarian(original_settings, purpose="space tests", linger_s=0) as empty:
        before = empty.parts.space.calibrations
        assert before == await recorded(empty)
        assert {language: entry.sampled for language, entry in before.items()} == {"en": 0}
        await fill(empty, store)
    async with open_librarian(original_settings, purpose="space tests", linger_s=0) as filled:
        after = filled.parts.space.calibrations["en"]
        assert (after.sampled, after.vectors) == (len(MANY), len(MANY))
        assert after.made_at > before["en"].made_at
    async with open_librarian(original_settings, purpose="space tests", linger_s=0) as again:
        assert again.parts.space.calibrations["en"] == after


async def test_noise_is_that_of_the_probes_and_the_stored_texts_of_the_language(original, store):
    """Mean and deviation are those of the encoder's own vectors; Japanese texts say nothing about English ones."""
    await fill(original, store)
    await original.calibrate()
    encoder = original.parts.encoder
    queries = (await encode_probes(encoder, ["en"]))["en"].queries
    expected = queries @ (await encoder.encode_passages(list(MANY.values()))).T
    found = (await recorded(original))["en"]
    assert (found.mean, found.deviation) == pytest.approx((expected.mean(), expected.std()), abs=1e-4)


async def test_a_sample_of_a_larger_space_is_no_larger_than_asked(original, store):
    """The cost of a start does not grow with the graph: a few vectors are drawn, and another few the next time."""
    await fill(original, store)
    parts = original.parts
    queries = (await parts.encoder.encode_query(["What is the capital of Mongolia?"])).tolist()
    drawn = [await sample_noise(parts.executor, parts.space, queries, cjk=False, limit=2) for _ in range(12)]
    assert {entry.sampled for entry in drawn} == {2}
    assert len({entry.mean for entry in drawn}) > 1


async def test_related_texts_lie_above_the_lowest_bound_and_others_below(original, store):
    """The bound is one for similarity, although the cosines of unrelated texts are high with this encoder."""
    await fill(original, store)
    await original.calibrate()
    noise, encoder = (await recorded(original))["en"], original.parts.encoder
    query = await encoder.encode_query(["When does the ship to Lisbon depart?"])
    passages = await encoder.encode_passages(["The ferry to Lisbon leaves at nine.", "He is allergic to penicillin."])
    near, far = (query @ passages.T)[0]
    assert calibrated(near, noise) > 0.6
    assert far > 0.3
    assert calibrated(far, noise) < 0.35


async def test_no_space_goes_by_the_calibration_of_another(original, mirrored, store):
    """A new space beside a full one starts with its own noise, and leaves the other's as it is."""
    await fill(original, store)
    await original.calibrate()
    full = await recorded(original)
    async with mirrored() as other:
        assert (await recorded(other))["en"].sampled == 0
        await other.embeddings.switch()
        await other.calibrate()
        assert (await recorded(other))["en"].sampled == len(MANY)
        assert await recorded(original) == full


async def test_a_running_service_calibrates_when_the_graph_has_grown(forgotten, original_settings, store):
    """Nobody has to restart it or to call `librarian calibrate` after the first texts have come."""
    async with open_librarian(original_settings, purpose="space tests", linger_s=0, wait=False) as service:
        await service.ready()
        assert service.parts.space.calibrations["en"].sampled == 0
        assert len(MANY) >= ENOUGH
        await store(service, **MANY)
        deadline = time.monotonic() + PATIENCE_S
        while service.parts.space.calibrations["en"].sampled != len(MANY):
            assert time.monotonic() < deadline, "it never happened"
            await asyncio.sleep(0.05)


async def test_the_command_measures_anew_and_prints_it(original, original_settings, program, store):
    """`librarian calibrate --json` says what the graph then holds."""
    await fill(original, store)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("LIBRARIAN_", "NEO4J_"))}
    environment = {
        **inherited,
        "LIBRARIAN_HOME": str(original_settings.home),
        "LIBRARIAN_CACHE": str(original_settings.cache),
    }
    process = await asyncio.create_subprocess_exec(
        program,
        "calibrate",
        "--json",
        env=environment,
        stdout=asyncio.subprocess.PIPE,
    )
    printed, _ = await process.communicate()
    assert process.returncode == 0
    (shown,) = json.loads(printed)
    found = (await recorded(original))["en"]
    assert shown["language"] == "en"
    assert (shown["sampled"], shown["mean"]) == (len(MANY), round(found.mean, 4))
    assert shown["mean"] < shown["cosine_of_low"] < shown["cosine_of_high"] < 1
