"""The default encoder with its real model."""

import asyncio
import random
import shutil

import numpy as np
import pytest

from retrieval.encoders.errors import EncoderMisconfigured, EncoderUnavailable
from retrieval.encoders.factory import encoder_from_spec
from retrieval.encoders.onnx import MAX_TOKENS, OnnxEncoder
from retrieval.passages import MAX_CHARS, embedding_text, passages

TEXTS = [
    f"Ana: the {thing} arrived on day {day}" for day in range(1, 9) for thing in ("bike", "parcel with books", "cat")
]


async def test_the_space_tells_what_the_vectors_are(encoder):
    """The space names model, dimension and text form, and its revision hashes the files."""
    assert (encoder.space.model, encoder.space.dimension) == ("bge-small-en-v1.5-q", 384)
    assert encoder.space.text_form == "author-text-v1"
    assert encoder.space.normalised
    assert len(encoder.space.revision) == 12


async def test_similar_texts_lie_closer_than_other_ones(encoder):
    """A question is nearer to its paraphrased answer than to a text that shares more of its words."""
    (query,) = await encoder.encode_query(["Why did the deploy fail?"])
    answer, other = await encoder.encode_passages(
        ["Tom: the rollout broke because the database migration timed out", "Tom: why did the chicken cross the road"]
    )
    assert query @ answer > query @ other


async def test_vectors_have_unit_length(encoder):
    """Every row is float32 and of length one, for odd texts as well."""
    odd = ["", " ", "\x00", "a\ud800b", "😀" * 400, "x" * 1_000_000, "日本語。" * 300]
    vectors = await encoder.encode_passages(odd)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(odd)), abs=1e-5)


async def test_nothing_to_encode_gives_no_rows(encoder):
    """An empty list is an answer, not an error."""
    assert (await encoder.encode_passages([])).shape == (0, 384)


async def test_a_vector_does_not_depend_on_its_company(encoder):
    """The same text has bitwise the same vector alone, in any order, among others and in the query path."""
    together = await encoder.encode_passages(TEXTS)
    order = random.Random(7).sample(range(len(TEXTS)), len(TEXTS))
    shuffled = await encoder.encode_passages([TEXTS[position] for position in order])
    alone = np.vstack([await encoder.encode_query([text]) for text in TEXTS])
    assert np.array_equal(shuffled, together[order])
    assert np.array_equal(alone, together)


async def test_the_event_loop_goes_on_while_texts_are_encoded(encoder):
    """A heartbeat on the loop advances between the first and the last text of a long job."""
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0)
            beats += 1

    heart = asyncio.ensure_future(beat())
    await encoder.encode_passages([" ".join(TEXTS)] * 4)
    heart.cancel()
    assert beats > 100


async def test_a_query_does_not_wait_behind_a_passage_job(encoder):
    """A query that comes during a long passage job is answered before the job ends."""
    job = asyncio.ensure_future(encoder.encode_passages([f"{number} {text}" for number in range(20) for text in TEXTS]))
    await asyncio.sleep(0.01)
    await encoder.encode_query(["Where is the bike?"])
    assert not job.done()
    await job


async def test_a_cancelled_job_leaves_the_encoder_usable(encoder):
    """Cancelling a passage job drops its waiting texts; the next call works."""
    job = asyncio.ensure_future(encoder.encode_passages(TEXTS * 100))
    await asyncio.sleep(0.01)
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    assert (await encoder.encode_query(["still here?"])).shape == (1, 384)


@pytest.mark.parametrize(
    "sentence",
    [
        "Maria told us on Tuesday that the second rollout had been postponed, since nobody was on call. ",
        "for key, value in sorted(settings.items()): print(f'{key}={value!r}')\n",
        "会議は水曜日に延期され、担当者が資料を作り直すことになった。",
    ],
    ids=["prose", "code", "japanese"],
)
async def test_a_passage_fits_the_model_whole(encoder, sentence):
    """The longest passage with its author and a caption is not cut off by the model: its last sentence still counts."""
    longest = max(passages(sentence * (3 * MAX_CHARS // len(sentence))), key=len)
    written = embedding_text("Caroline Miller", longest, "a photo of a red bicycle")
    assert len(encoder._tokenizer.encode(written).ids) < MAX_TOKENS


async def test_damaged_or_missing_files_are_named(model_folder, tmp_path):
    """A file that is missing or cut off makes the encoder say which one and how to get it back."""
    for file in model_folder.glob("bge-*"):
        shutil.copy(file, tmp_path)
    weights, vocabulary = tmp_path / "bge-small-en-v1.5-q.onnx", tmp_path / "bge-small-en-v1.5-q-tokenizer.json"
    weights.write_bytes(weights.read_bytes()[:1_000_000])
    with pytest.raises(EncoderMisconfigured, match=r"\.onnx is damaged.*remove its folder"):
        OnnxEncoder(tmp_path)
    vocabulary.write_bytes(vocabulary.read_bytes()[:1_000])
    with pytest.raises(EncoderMisconfigured, match=r"tokenizer\.json is damaged"):
        OnnxEncoder(tmp_path)
    vocabulary.unlink()
    with pytest.raises(EncoderMisconfigured, match=r"tokenizer\.json cannot be read"):
        OnnxEncoder(tmp_path)


async def test_other_files_are_another_space(model_folder, tmp_path, encoder):
    """A model of the same name and dimension with another content is told apart by its revision."""
    for file in model_folder.glob("bge-*"):
        shutil.copy(file, tmp_path)
    with (tmp_path / "bge-small-en-v1.5-q-tokenizer.json").open("a") as vocabulary:
        vocabulary.write("\n")
    other = await encoder_from_spec("onnx", model_folder=tmp_path, threads=1)
    assert other is not None
    assert other.space.dimension == encoder.space.dimension
    assert other.space.id != encoder.space.id
    await other.aclose()


async def test_a_closed_encoder_says_so(model_folder):
    """After aclose every call raises an error that names the reason, instead of waiting for ever."""
    closed = OnnxEncoder(model_folder, threads=1)
    await closed.aclose()
    with pytest.raises(EncoderUnavailable, match="closed"):
        await closed.encode_query(["late"])
