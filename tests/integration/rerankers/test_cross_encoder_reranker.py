"""The cross-encoder reranker with tiny real models made on the spot: a classifier and a causal one."""

import asyncio
import importlib.util

import pytest

from retrieval.rerankers.base import RerankerConfig
from retrieval.rerankers.errors import InvalidScores, RerankerError, RerankerMisconfigured, RerankerUnavailable
from retrieval.rerankers.factory import reranker_from_config

MISSING = importlib.util.find_spec("sentence_transformers") is None
with_library = pytest.mark.skipif(MISSING, reason="not installed: sentence_transformers (.ci/run installs it)")
# torch and its companions warn about themselves; that is not ours to fail for.
pytestmark = pytest.mark.filterwarnings("default")

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
QWEN_TEMPLATE = (
    "{%- set query = (messages | selectattr('role', 'eq', 'query') | first).content %}"
    "{%- set document = (messages | selectattr('role', 'eq', 'document') | first).content %}"
    "{{- '<|im_start|>user\n<Query>: ' + query + '\n<Document>: ' + document + '<|im_end|>\n' }}"
)


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    """Saves a BERT of two layers with random weights and `labels` outputs."""

    def save(labels: int = 1, *, broken: bool = False):
        import torch
        from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

        folder = tmp_path_factory.mktemp("classifier")
        (folder / "vocab.txt").write_text("\n".join([*SPECIAL, *LETTERS, *(f"##{letter}" for letter in LETTERS)]))
        tokenizer = BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=128)
        torch.manual_seed(0)
        sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
        config = BertConfig(vocab_size=len(tokenizer), num_labels=labels, **sizes)
        model = BertForSequenceClassification(config)
        with torch.no_grad():
            model.classifier.weight.mul_(float("nan") if broken else 50)
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return folder

    return save


@pytest.fixture(scope="module")
def causal(tmp_path_factory):
    """Saves a Qwen3 of two layers with random weights, the words of its vocabulary, and `template`."""

    def save(template: str | None):
        import torch
        from tokenizers import Regex, Tokenizer, models, pre_tokenizers
        from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

        folder = tmp_path_factory.mktemp("causal")
        words = {
            word: number for number, word in enumerate(["<|unk|>", "<|im_start|>", "<|im_end|>", "yes", "no", *LETTERS])
        }
        inner = Tokenizer(models.WordLevel(words, unk_token="<|unk|>"))
        inner.pre_tokenizer = pre_tokenizers.Split(Regex(r"yes|no|."), "isolated")
        tokenizer = PreTrainedTokenizerFast(
            tokenizer_object=inner, unk_token="<|unk|>", pad_token="<|im_end|>", eos_token="<|im_end|>",
            additional_special_tokens=["<|im_start|>"],
        )  # fmt: skip
        tokenizer.chat_template = template
        torch.manual_seed(0)
        sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
        config = Qwen3Config(vocab_size=len(tokenizer), num_key_value_heads=2, head_dim=16, **sizes)
        Qwen3ForCausalLM(config).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return folder

    return save


async def opened(folder, **options):
    return await reranker_from_config(RerankerConfig(model=f"cross-encoder:{folder}", **options))


@with_library
async def test_a_classifier_scores_pairs_by_its_own_logits(classifier):
    """Values are the sigmoid of what the model says, in the documents' order, whatever the batch size."""
    from sentence_transformers import CrossEncoder

    folder = classifier()
    documents = ["abc", "xyz " * 40, "hello world", "", "qqq"]
    reranker = await opened(folder, batch_size=2)
    scores = [score.value for score in await reranker.score_pairs("abc", documents)]
    expected = CrossEncoder(str(folder), device="cpu").predict([("abc", text) for text in documents])
    assert scores == pytest.approx(expected.tolist(), abs=1e-5)
    assert max(scores) - min(scores) > 1e-3
    best = await reranker.rerank("abc", documents, str, 2)
    assert [entry.score.value for entry in best] == sorted(scores, reverse=True)[:2]
    assert await reranker.is_available()
    await reranker.close()
    assert not await reranker.is_available()
    with pytest.raises(RerankerUnavailable):
        await reranker.score_pair("a", "b")


@with_library
async def test_a_causal_model_scores_by_yes_and_no(causal):
    """A model whose template has places for query and document gives probabilities, and reads the instruction."""
    reranker = await opened(causal(QWEN_TEMPLATE))
    first, second = await reranker.score_pairs("abc", ["abc", "xyz"])
    assert 0 < first.value < 1
    assert first.value != second.value
    await reranker.close()


@with_library
@pytest.mark.parametrize(
    "template", [None, "{{- messages[0].content }}{{- raise_exception('no such role') }}"], ids=["none", "other roles"]
)
async def test_a_template_without_places_for_the_texts_is_refused(causal, template):
    """Without one the model would silently score the texts in one piece."""
    with pytest.raises(RerankerError):
        await opened(causal(template))


@with_library
async def test_special_tokens_in_texts_are_text(classifier):
    """A document that holds [SEP] does not end there: it scores as its letters do."""
    reranker = await opened(classifier())
    special, spelt = await reranker.score_pairs("abc", ["abc [SEP] xyz", "abc [ SEP] xyz"])
    assert special == spelt
    odd = await reranker.score_pairs("\ud800", ["\0", "犬" * 4000])
    assert all(0 <= score.value <= 1 for score in odd)
    await reranker.close()


@with_library
async def test_a_model_of_several_outputs_is_no_reranker(classifier):
    """Entailment models and the like are named as such."""
    with pytest.raises(RerankerMisconfigured, match="3 values"):
        await opened(classifier(3))


@with_library
async def test_a_model_that_returns_nan_is_refused(classifier):
    """The first pair, scored when it is loaded, finds it out."""
    with pytest.raises(InvalidScores, match="usable"):
        await opened(classifier(broken=True))


@with_library
async def test_a_cross_encoder_that_does_not_exist_is_named(tmp_path, monkeypatch):
    """A wrong path is a setting error with a remedy."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(RerankerMisconfigured, match="RERANKER_MODEL"):
        await opened(tmp_path / "nothing")


@with_library
async def test_a_deadline_is_kept_between_batches(classifier):
    """A call that takes too long ends at its timeout, and the thread is free for the next one."""
    reranker = await opened(classifier(), batch_size=1, timeout_s=0.05)
    with pytest.raises(RerankerUnavailable, match="within"):
        await reranker.score_pairs("abc", ["xyz " * 500] * 2000)
    async with asyncio.timeout(60):
        while True:
            try:
                assert 0 <= (await reranker.score_pair("abc", "abc")).value <= 1
                break
            except RerankerUnavailable:
                continue
    await reranker.close()


@pytest.mark.skipif(not MISSING, reason="the library is installed here")
async def test_without_the_library_a_cross_encoder_says_what_to_install():
    """The extra is optional: naming such a model without it says what to install."""
    with pytest.raises(RerankerMisconfigured, match=r"pip install 'librarian\[sentence-transformers\]'"):
        await opened("any")
