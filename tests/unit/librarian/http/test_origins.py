"""Names and origins that a service answers to, by where it listens and what is configured."""

import pytest
from starlette.requests import Request

from librarian.base.errors import Forbidden
from librarian.base.settings.settings import HttpSettings
from librarian.base.settings.values import host_names
from librarian.http.origins import refuse_other_sites

PUBLIC = HttpSettings(host="0.0.0.0", allow_insecure_bind=True)
NAMED = HttpSettings(host="0.0.0.0", allow_insecure_bind=True, allowed_hosts=("librarian.example",))


def refused(http, **headers):
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    try:
        refuse_other_sites(Request({"type": "http", "headers": raw}), http)
    except Forbidden as error:
        return error.field
    return None


@pytest.mark.parametrize(
    ("http", "host", "origin", "field"),
    [
        (PUBLIC, "anything.example", None, None),
        (PUBLIC, "anything.example:8765", "https://anything.example", None),
        (PUBLIC, "anything.example", "https://other.example", "Origin"),
        (NAMED, "LIBRARIAN.example:443", "https://librarian.example", None),
        (NAMED, "10.1.2.3:8765", None, None),
        (NAMED, "anything.example", None, "Host"),
        (NAMED, "librarian.example.attacker.example", None, "Host"),
        (NAMED, "[bad", None, "Host"),
        (HttpSettings(allowed_hosts=("librarian.example",)), "librarian.example", None, None),
    ],
)
def test_names_and_origins(http, host, origin, field):
    """Beyond loopback any name will do until some are configured; pages of other sites are refused everywhere."""
    assert refused(http, host=host, **({"origin": origin} if origin else {})) == field


def test_names_of_hosts():
    """Names alone: no addresses of pages, no patterns."""
    assert host_names("Librarian.example, intern") == ("librarian.example", "intern")
    for wrong in ("", "https://librarian.example", "*.example", "a b", "librarian.example:443"):
        with pytest.raises(ValueError, match="names such as"):
            host_names(wrong)
