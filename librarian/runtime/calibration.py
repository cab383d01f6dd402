"""Calibration of an embedding space: the languages its encoder covers, and what its cosines mean in each."""

from collections.abc import Mapping
from dataclasses import replace

from graph.executor import Executor
from graph.spaces import count_vectors, put_calibrations, sample_noise, set_languages
from graph.types import Noise, SpaceRecord
from librarian.runtime.contracts import CalibrationOut
from retrieval.calibration import (
    ENOUGH,
    HIGH_SIMILARITY,
    LOW_SIMILARITY,
    SAMPLE,
    VERSION,
    cosine_of,
    needs_calibration,
    probe_noise,
)
from retrieval.encoders.base import Encoder
from retrieval.encoders.language_probe import ProbeVectors, covered_languages, encode_probes

_CJK = ("ja", "zh", "ko")


async def prepared(executor: Executor, space: SpaceRecord, encoder: Encoder) -> SpaceRecord:
    """Return `space` with its languages and up-to-date calibrations; usually nothing has to be measured."""
    if space.languages is None:
        probes = await encode_probes(encoder)
        languages = covered_languages(probes)
        await set_languages(executor, space.space, languages)
        return await _calibrate(executor, replace(space, languages=languages), probes)
    if needs_calibration(space.calibrations, space.languages, await count_vectors(executor, space.space)):
        return await calibrate(executor, space, encoder)
    return space


async def calibrate(executor: Executor, space: SpaceRecord, encoder: Encoder) -> SpaceRecord:
    """Measure and record the noise of `space` in the languages it covers; return the recorded space."""
    return await _calibrate(executor, space, await encode_probes(encoder, sorted(space.languages or ())))


def calibrations_out(space: SpaceRecord) -> list[CalibrationOut]:
    """Return the recorded calibrations for display, by language."""
    return [
        CalibrationOut(
            language=language,
            mean=round(noise.mean, 4),
            deviation=round(noise.deviation, 4),
            sampled=noise.sampled,
            cosine_of_low=round(cosine_of(LOW_SIMILARITY, noise), 4),
            cosine_of_high=round(cosine_of(HIGH_SIMILARITY, noise), 4),
            version=noise.version,
            made_at=noise.made_at.isoformat(),
        )
        for language, noise in sorted(space.calibrations.items())
    ]


async def _calibrate(executor: Executor, space: SpaceRecord, probes: Mapping[str, ProbeVectors]) -> SpaceRecord:
    vectors = await count_vectors(executor, space.space)
    noise = {
        language: await _noise(executor, space, language, probes[language])
        for language in sorted(space.languages or ())
    }
    return await put_calibrations(executor, space.space, noise, vectors=vectors, version=VERSION)


async def _noise(executor: Executor, space: SpaceRecord, language: str, probes: ProbeVectors) -> Noise:
    """Return the noise of stored texts in the script of `language`, or of the probes where too few are stored."""
    stored = await sample_noise(executor, space, probes.queries.tolist(), cjk=language in _CJK, limit=SAMPLE)
    if stored is None or stored.sampled < ENOUGH:
        return probe_noise(probes.queries, probes.passages)
    return stored
