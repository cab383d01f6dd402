"""The real model of the default encoder, from the machine's artifact cache."""

import os
from pathlib import Path

import pytest
from platformdirs import user_cache_path

from graph.local.artifacts import encoder_model
from retrieval.encoders.onnx import OnnxEncoder


@pytest.fixture(scope="session")
async def model_folder() -> Path:
    """The folder with the model's files; downloaded on the first run of a machine."""
    return await encoder_model(Path(os.environ.get("LIBRARIAN_CACHE") or user_cache_path("librarian")))


@pytest.fixture(scope="session")
async def encoder(model_folder):
    """The default encoder with two worker threads."""
    ready = OnnxEncoder(model_folder, threads=2)
    yield ready
    await ready.aclose()
