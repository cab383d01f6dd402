"""The pure parts of the HTTP encoder."""

import pytest

from retrieval.encoders.http import embeddings_url


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("http://h:1", "http://h:1/v1/embeddings"),
        ("http://h:1/", "http://h:1/v1/embeddings"),
        ("http://h:1/v1", "http://h:1/v1/embeddings"),
        ("https://h/router/v1/", "https://h/router/v1/embeddings"),
        ("https://h/x/embeddings", "https://h/x/embeddings"),
    ],
)
def test_the_address_follows_from_the_base_url(base, url):
    assert embeddings_url(base) == url
