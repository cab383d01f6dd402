"""Errors of the rerankers."""

import pytest

from retrieval.rerankers import errors

TREE = [errors.RerankerError, *errors.RerankerError.__subclasses__(), errors.RerankerBroke]


@pytest.mark.parametrize("error", TREE)
def test_the_default_message_of_a_reranker_error_is_the_docstring(error):
    assert str(error()) == error.__doc__


def test_only_an_unavailable_reranker_is_worth_another_try():
    assert [each for each in TREE if each.retryable] == [errors.RerankerUnavailable, errors.RerankerBroke]
