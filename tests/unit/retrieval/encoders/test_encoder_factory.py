"""The forms of LIBRARIAN_ENCODER."""

import pytest

from retrieval.encoders.errors import EncoderMisconfigured
from retrieval.encoders.factory import encoder_from_spec
from retrieval.encoders.sentence_transformers import prompts_by_name


async def test_none_means_keyword_only():
    assert await encoder_from_spec("none") is None


@pytest.mark.parametrize(
    "spec", ["", "bge", "onnx:other", "none:x", "sentence-transformers", "sentence-transformers:", "http", "http:"]
)
async def test_an_unknown_form_is_refused_with_the_known_ones(spec):
    with pytest.raises(EncoderMisconfigured, match=r"LIBRARIAN_ENCODER.*onnx, sentence-transformers:.*http:.*none"):
        await encoder_from_spec(spec)


@pytest.mark.parametrize(
    "spec",
    ["http://127.0.0.1:8080#bge-m3", "http:ftp://host#m", "http:https://[#m", "http:http://#m", "http:https://h?q=1#m"],
)
async def test_a_server_without_a_usable_address_is_refused_with_an_example(spec):
    with pytest.raises(EncoderMisconfigured, match="write http:<base url>#<model>, for instance"):
        await encoder_from_spec(spec)


async def test_a_server_without_a_model_is_refused():
    with pytest.raises(EncoderMisconfigured, match="names no model"):
        await encoder_from_spec("http:http://127.0.0.1:8080/v1")


async def test_a_secret_in_a_mistyped_setting_is_not_repeated():
    with pytest.raises(EncoderMisconfigured) as refused:
        await encoder_from_spec("htp:https://user:hunter2@host#model")
    assert "hunter2" not in str(refused.value)


async def test_the_default_model_needs_its_folder():
    with pytest.raises(EncoderMisconfigured, match="folder"):
        await encoder_from_spec("onnx")


async def test_missing_model_files_are_named(tmp_path):
    with pytest.raises(EncoderMisconfigured, match=r"bge-small-en-v1\.5-q\.onnx.*remove its folder"):
        await encoder_from_spec("onnx", model_folder=tmp_path)


def test_e5_models_get_the_prompts_that_their_configuration_lacks():
    assert prompts_by_name("multilingual-e5-small") == {"query": "query: ", "passage": "passage: "}
    assert prompts_by_name("e5-base-v2") == prompts_by_name("multilingual-e5-small")
    # These want an instruction with their queries, which differs by task.
    assert prompts_by_name("multilingual-e5-large-instruct") == {}
    assert prompts_by_name("all-MiniLM-L6-v2") == prompts_by_name("bge-m3") == prompts_by_name("made-e55-x") == {}
