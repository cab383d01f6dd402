"""Writes a model of the Qwen3 architecture, 440 KB, that a real llama-server loads in a moment.

    python tiny_gguf.py OUT [--random] [--pooling-rank] [--head]

Attention is a plain mean over all tokens. One dimension of the embedding carries relevance: +1 for the byte "+", -0.05
for all else. The output rows of "yes" and "no" read it with opposite signs and share a large bias, so these two are
always the likeliest tokens, and P(yes) rises with the share of "+" in the prompt. The vocabulary is the 256 bytes and a
few merges, so that a byte is about a token.

--random has no such steering; --pooling-rank is what a converter writes that forgets the classification head, and
--head has it.
"""

import argparse
from pathlib import Path

import gguf
import numpy as np

LAYERS, WIDTH, HEADS, KV_HEADS, HEAD_WIDTH, INNER = 2, 64, 4, 2, 16, 128
CONTEXT = 32_768
SPECIAL = {
    "<|endoftext|>": gguf.TokenType.CONTROL,
    "<|im_start|>": gguf.TokenType.CONTROL,
    "<|im_end|>": gguf.TokenType.CONTROL,
    "<think>": gguf.TokenType.USER_DEFINED,
    "</think>": gguf.TokenType.USER_DEFINED,
}
CHAT_TEMPLATE = (
    "{%- for m in messages %}{{- '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}"
    "{%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}"
    "{%- endif %}"
)
RERANK_TEMPLATE = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct "
    'provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n<Instruct>: Given a web '
    "search query, retrieve relevant passages that answer the query\n<Query>: {query}\n<Document>: {document}"
    "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
)


def byte_alphabet() -> list[str]:
    """GPT-2's printable stand-ins for the 256 bytes."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]


def vocabulary() -> tuple[list[str], list[int], list[str]]:
    """Tokens, their types, and the merges."""
    alphabet = byte_alphabet()
    blank, line = alphabet[32], alphabet[10]
    words = [("y", "e"), ("ye", "s"), ("n", "o"), ("Y", "e"), ("Ye", "s"), ("N", "o")]
    merges = [*words, (blank, "yes"), (blank, "no"), (line, line)]
    plain = [*alphabet, *("".join(pair) for pair in merges)]
    types = [gguf.TokenType.NORMAL] * len(plain) + list(SPECIAL.values())
    return [*plain, *SPECIAL], types, [" ".join(pair) for pair in merges]


class TinyModel:
    """The file being written."""

    def __init__(self, path: Path, *, steered: bool) -> None:
        self.writer = gguf.GGUFWriter(str(path), "qwen3")
        self.tokens, self.types, self.merges = vocabulary()
        self.ids = {token: number for number, token in enumerate(self.tokens)}
        self.steered = steered
        self.source = np.random.default_rng(0)

    def write_settings(self) -> None:
        """Sizes and tokenizer."""
        writer = self.writer
        writer.add_name("tiny-qwen3-reranker")
        writer.add_context_length(CONTEXT)
        writer.add_embedding_length(WIDTH)
        writer.add_block_count(LAYERS)
        writer.add_feed_forward_length(INNER)
        writer.add_head_count(HEADS)
        writer.add_head_count_kv(KV_HEADS)
        writer.add_key_length(HEAD_WIDTH)
        writer.add_value_length(HEAD_WIDTH)
        writer.add_layer_norm_rms_eps(1e-6)
        writer.add_rope_freq_base(1e6)
        writer.add_file_type(gguf.LlamaFileType.ALL_F32)
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("qwen2")
        writer.add_token_list(self.tokens)
        writer.add_token_types(self.types)
        writer.add_token_merges(self.merges)
        writer.add_bos_token_id(self.ids["<|endoftext|>"])
        writer.add_eos_token_id(self.ids["<|im_end|>"])
        writer.add_pad_token_id(self.ids["<|endoftext|>"])
        writer.add_add_bos_token(False)

    def write_roles(self, *, head: bool, pooling_rank: bool) -> None:
        """Templates, and what makes a server offer /v1/rerank."""
        if head or pooling_rank:
            self.writer.add_pooling_type(gguf.PoolingType.RANK)
        if not head:
            self.writer.add_chat_template(CHAT_TEMPLATE)
            return
        templates = {"default": CHAT_TEMPLATE, "rerank": RERANK_TEMPLATE}
        self.writer.add_chat_template([{"name": name, "template": text} for name, text in templates.items()])
        self.writer.add_classifier_output_labels(["yes", "no"])

    def write_weights(self, *, head: bool) -> None:
        """Embeddings, output and layers."""
        words = self._noise(len(self.tokens), WIDTH, scale=0.02 if self.steered else 1.0)
        output = self._noise(len(self.tokens), WIDTH, scale=0.02 if self.steered else 0.3)
        yes, no = self.ids["yes"], self.ids["no"]
        if self.steered:
            words[:, 0], words[:, 1] = 1.0, -0.05
            words[self.ids["+"], 1] = 1.0
            output[yes, :2], output[no, :2] = (1.5, 1.0), (1.5, -1.0)
        self.writer.add_tensor("token_embd.weight", words)
        self.writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
        self.writer.add_tensor("output.weight", output)
        if head:
            self.writer.add_tensor("cls.output.weight", np.stack([output[yes], output[no]]))
        for layer in range(LAYERS):
            self._write_layer(layer)

    def _write_layer(self, layer: int) -> None:
        shapes = {
            "attn_q": (HEADS * HEAD_WIDTH, WIDTH),
            "attn_k": (KV_HEADS * HEAD_WIDTH, WIDTH),
            "attn_v": (KV_HEADS * HEAD_WIDTH, WIDTH),
            "attn_output": (WIDTH, HEADS * HEAD_WIDTH),
            "ffn_up": (INNER, WIDTH),
            "ffn_gate": (INNER, WIDTH),
            "ffn_down": (WIDTH, INNER),
        }
        weights = {name: self._noise(*shape, scale=0.0 if self.steered else 0.05) for name, shape in shapes.items()}
        if self.steered and layer == 0:
            # The mean relevance of all tokens comes back as relevance of the last one.
            weights["attn_v"][0, 1], weights["attn_output"][1, 0] = 1.0, 0.25
        norms = {"attn_norm": WIDTH, "attn_q_norm": HEAD_WIDTH, "attn_k_norm": HEAD_WIDTH, "ffn_norm": WIDTH}
        weights |= {name: np.ones(width, np.float32) for name, width in norms.items()}
        for name, tensor in weights.items():
            self.writer.add_tensor(f"blk.{layer}.{name}.weight", tensor)

    def _noise(self, *shape: int, scale: float) -> np.ndarray:
        return (self.source.standard_normal(shape) * scale).astype(np.float32)

    def save(self) -> None:
        """Write the file."""
        self.writer.write_header_to_file()
        self.writer.write_kv_data_to_file()
        self.writer.write_tensors_to_file()
        self.writer.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--random", action="store_true")
    parser.add_argument("--pooling-rank", action="store_true")
    parser.add_argument("--head", action="store_true")
    wanted = parser.parse_args()
    model = TinyModel(wanted.out, steered=not wanted.random)
    model.write_settings()
    model.write_roles(head=wanted.head, pooling_rank=wanted.pooling_rank)
    model.write_weights(head=wanted.head)
    model.save()


if __name__ == "__main__":
    main()
