"""Creates the encoder named by the setting LIBRARIAN_ENCODER."""

import asyncio
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from retrieval.encoders.base import Encoder
from retrieval.encoders.errors import EncoderMisconfigured
from retrieval.encoders.http import HttpEncoder
from retrieval.encoders.onnx import OnnxEncoder
from retrieval.encoders.sentence_transformers import SentenceTransformersEncoder

FORMS = "onnx, sentence-transformers:<name or path>, http:<base url>#<model>, none"


async def encoder_from_spec(
    spec: str, *, model_folder: Path | None = None, threads: int = 0, api_key: str | None = None
) -> Encoder | None:
    """Return the encoder that LIBRARIAN_ENCODER names; None for "none", which leaves keyword search.

    `model_folder` holds the files of "onnx", `threads` (0: a default for the machine) bounds the cores it uses;
    `api_key` goes to the embeddings server. A local model loads in a thread; a server is asked for one vector, to learn
    the dimension. Raises EncoderMisconfigured, or EncoderUnavailable if the server does not answer.
    """
    kind, _, rest = spec.strip().partition(":")
    if kind == "none" and not rest:
        return None
    if kind == "onnx" and not rest:
        return await _onnx(model_folder, threads)
    if kind == "sentence-transformers" and rest:
        return await asyncio.to_thread(SentenceTransformersEncoder, rest)
    if kind == "http" and rest:
        base_url, model = _server(rest)
        return await HttpEncoder.connect(base_url, model, api_key=api_key)
    raise EncoderMisconfigured(
        f"LIBRARIAN_ENCODER begins with {kind!r}, which is no complete encoder; use one of: {FORMS}"
    )


async def _onnx(folder: Path | None, threads: int) -> Encoder:
    if folder is None:
        raise EncoderMisconfigured("LIBRARIAN_ENCODER is 'onnx', but the folder with the model's files is not given")
    return await asyncio.to_thread(partial(OnnxEncoder, folder, threads=threads))


def _server(rest: str) -> tuple[str, str]:
    """Return the base URL and model of "<base url>#<model>"."""
    base_url, _, model = rest.partition("#")
    try:
        address = urlsplit(base_url)
        usable = address.scheme in ("http", "https") and bool(address.hostname) and not address.query
    except ValueError:
        usable = False
    if not usable:
        raise EncoderMisconfigured(
            "LIBRARIAN_ENCODER starts with 'http:' but no http or https address follows; "
            "write http:<base url>#<model>, for instance http:http://127.0.0.1:8080/v1#bge-m3"
        )
    if not model:
        raise EncoderMisconfigured("LIBRARIAN_ENCODER names no model; write http:<base url>#<model>")
    return base_url, model
