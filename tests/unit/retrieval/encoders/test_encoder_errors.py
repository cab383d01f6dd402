"""Errors of the encoders."""

import pytest

from retrieval.encoders import errors

TREE = [errors.EncoderError, *errors.EncoderError.__subclasses__()]
PUBLIC = [each for each in TREE if each.__module__ == errors.__name__]


@pytest.mark.parametrize("error", PUBLIC)
def test_the_default_message_is_the_docstring(error):
    assert str(error()) == error.__doc__


def test_codes_are_stable_and_distinct():
    assert [each.code for each in PUBLIC] == [
        "encoder_error",
        "encoder_unavailable",
        "encoder_misconfigured",
        "encoder_rejected_text",
        "invalid_vectors",
    ]


def test_only_an_unavailable_server_is_worth_another_try():
    assert [each for each in PUBLIC if each.retryable] == [errors.EncoderUnavailable]
