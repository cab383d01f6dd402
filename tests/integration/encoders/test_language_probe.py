"""The probe's decision for the real default model."""

from retrieval.encoders.language_probe import accuracy, covered_languages, encode_probes


async def test_the_default_model_covers_english_only(encoder):
    """The English model is trusted in English and in no other probed language."""
    assert covered_languages(await encode_probes(encoder)) == {"en"}


async def test_the_decision_is_not_a_close_one(encoder):
    """Languages that are not covered stay below one half: shared letters do not carry the model near the threshold."""
    accuracies = {language: accuracy(vectors) for language, vectors in (await encode_probes(encoder)).items()}
    assert accuracies.keys() == {"en", "ja", "zh", "ko"}
    assert max(accuracies[language] for language in ("ja", "zh", "ko")) < 0.5
