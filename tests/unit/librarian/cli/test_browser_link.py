"""The link to Neo4j Browser."""

from pathlib import Path

import pytest

from librarian.base.settings.settings import HttpSettings
from librarian.cli.browser_link import BrowserAddress, browser_lines, guide_of, is_loadable, service_url

PLACE = BrowserAddress(17474, 17687, Path("home/neo4j.password"), "librarian analyst status --show-password")


def test_the_link_names_the_database_and_plays_the_guide():
    """In the Browser's own parameters; what would end one of them is escaped."""
    assert PLACE.link() == "http://127.0.0.1:17474/browser/?dbms=bolt://neo4j@127.0.0.1:17687"
    played = PLACE.link(guide_of("http://127.0.0.1:8765", "app:x"))
    assert played == f"{PLACE.link()}&cmd=play&arg=http://localhost:8765/browser-pack/guide.html?namespace=app:x"
    assert "&" not in PLACE.link("http://127.0.0.1/guide?a&b").removeprefix(f"{PLACE.link()}&cmd=play&arg=")


@pytest.mark.parametrize(
    ("http", "url"),
    [
        (HttpSettings(), "http://127.0.0.1:8765"),
        (HttpSettings(host="0.0.0.0", port=80), "http://127.0.0.1:80"),
        (HttpSettings(host="::"), "http://127.0.0.1:8765"),
        (HttpSettings(host="::1"), "http://[::1]:8765"),
        (HttpSettings(host="localhost", tls_cert=Path("cert.pem"), tls_key=Path("key.pem")), "https://localhost:8765"),
    ],
)
def test_the_service_is_asked_where_it_listens(http, url):
    """Whoever listens everywhere answers on loopback too."""
    assert service_url(http) == url


def test_guides_are_taken_from_this_machine_only():
    """As the server's configuration says."""
    assert is_loadable("http://127.0.0.1:8765")
    assert is_loadable("https://localhost")
    assert not is_loadable("http://[::1]:8765")
    assert not is_loadable("http://librarian.example")


def test_without_a_pack_nothing_of_it_is_told():
    """Only where the Browser is, and where the password is."""
    link, login, printed = browser_lines(PLACE, "http://127.0.0.1:8765", "a", with_pack=False)
    assert link == f"Neo4j Browser: {PLACE.link()}"
    assert str(PLACE.password_file) in login
    assert printed == f"(`{PLACE.password_command}` prints it)."
