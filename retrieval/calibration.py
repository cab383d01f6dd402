"""Calibrates cosines to similarity on one scale (0..1) for every model and language. Pure functions.

"Nothing in common" has another cosine in every model and kind of text: with the default encoder unrelated texts have
about .39 in English conversations, .31 in Wikipedia and .69 in Japanese, where evidence in those conversations has .64.
So each space is measured, for each language, by how similar queries about nothing in the graph are to its stored texts
(graph.types.Noise), and a cosine is judged by z, its distance from that mean in standard deviations:

| cosine                   | z    | similarity |                                                       |
|--------------------------|------|------------|-------------------------------------------------------|
| mean of the noise        | 0    | 0          | nothing in common                                     |
| LOW deviations above it  | 1.75 | .35        | the lowest bound of the adaptive threshold            |
| HIGH deviations above it | 5    | .75        | its highest bound: as near as evidence usually is     |
| 1                        |      | 1          | the same text                                         |

Straight lines between, so that a nearer text always has the higher similarity, beyond HIGH too: evidence among
Wikipedia paragraphs lies at z = 9, where a line that went on from HIGH would have been cut off at 1.

Measured with the default encoder on LoCoMo (3 conversations, 1,451 turns, 383 answerable questions) and 30 questions
about other things. Noise of the probes: mean .385, deviation .054 (LoCoMo questions and turns of other conversations:
.421, .062; the probes and Wikipedia paragraphs: .314, .046; 500 vectors give the mean to .001, 50 to .003). Best cosine
of the other questions: median .450, 95 % below .521. Evidence: median .643, 5-95 % .511-.772. Dropping from the hybrid
search's hits what lies below .35, with LOW at z:

| z    | nothing found, other questions | all evidence below | recall@10 (.8541 without a bound) |
|------|--------------------------------|--------------------|-----------------------------------|
| 1.25 | .53                            | .003               | .8502                             |
| 1.5  | .63                            | .003               | .8502                             |
| 1.75 | .71                            | .003               | .8502                             |
| 2    | .80                            | .008               | .8450                             |
| 2.25 | .91                            | .021               | .8411                             |
| 2.5  | .94                            | .023               | .8372                             |

The highest LOW that costs at most .01 of recall@10 on two of the conversations is 1.75, 2 and 2; on the one left out it
costs .000, .006 and .013. 1.75 is the cautious one of them and costs no more than 1.25.

All that holds for queries as they were asked. Without the names of speakers, which are in the stored texts, evidence is
further away (median .615): at 1.75 recall@10 falls to .822.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from graph.types import Calibration, Noise
from retrieval.encoders.base import Vectors

VERSION = 1
"""Version of the method: probes, sample and statistics. Noise measured by another version is measured again."""

LOW, LOW_SIMILARITY = 1.75, 0.35
HIGH, HIGH_SIMILARITY = 5.0, 0.75

SAMPLE = 500
"""Stored vectors on which noise is measured."""

ENOUGH = 50
"""Stored vectors from which on they are better evidence than the probes' own passages."""

_GROWTH = 10
_GROWTH_WITHOUT_SAMPLE = 2


def calibrated(cosine: float, noise: Noise) -> float:
    """Return the similarity (0..1) of a cosine (-1..1) to texts stored where `noise` was measured; rises with the
    cosine.
    """
    return calibrated_all([cosine], noise)[0]


def calibrated_all(cosines: Sequence[float], noise: Noise) -> list[float]:
    """Return the similarity of each cosine."""
    return [
        float(similarity)
        for similarity in np.interp(cosines, _points(noise), (0.0, LOW_SIMILARITY, HIGH_SIMILARITY, 1.0))
    ]


def cosine_of(similarity: float, noise: Noise) -> float:
    """Return the cosine whose calibrated similarity (0..1) is `similarity`."""
    return float(np.interp(similarity, (0.0, LOW_SIMILARITY, HIGH_SIMILARITY, 1.0), _points(noise)))


def probe_noise(queries: Vectors, passages: Vectors) -> Noise:
    """Return the noise if little is stored: query n (row n) against every passage except the n-th, which answers it."""
    cosines = (queries @ passages.T)[~np.eye(len(queries), dtype=bool)]
    return Noise(float(cosines.mean()), float(cosines.std()), sampled=0)


def needs_calibration(recorded: Mapping[str, Calibration], languages: Collection[str], vectors: int) -> bool:
    """Return whether noise must be measured (again) in a space that covers `languages` and holds `vectors`."""
    return recorded.keys() != set(languages) or any(
        _outgrown(calibration, vectors) for calibration in recorded.values()
    )


def _outgrown(calibration: Calibration, vectors: int) -> bool:
    """Return whether the graph has outgrown a calibration, at ten times the vectors. One without a sample is repeated
    sooner, whenever the graph has doubled, since texts in its language may have arrived.
    """
    if calibration.version != VERSION:
        return True
    if calibration.sampled:
        return vectors >= _GROWTH * calibration.vectors
    return vectors >= max(ENOUGH, _GROWTH_WITHOUT_SAMPLE * calibration.vectors)


def _points(noise: Noise) -> tuple[float, float, float, float]:
    """Return the cosines of the similarities 0, LOW_SIMILARITY, HIGH_SIMILARITY and 1, never falling."""
    high = noise.mean + HIGH * noise.deviation
    return noise.mean, noise.mean + LOW * noise.deviation, high, max(high, 1.0)
