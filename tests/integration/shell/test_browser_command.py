"""`librarian server browser` as a user runs it."""

import pytest

from librarian.analyst.browser_pack.pack import PACK_FILES, pack_file


@pytest.fixture
def managed(settings):
    """The run's server is one of ours; commands about it refuse another one."""
    if settings.neo4j.uri is not None:
        pytest.skip("the run uses a server that NEO4J_URI names")


async def test_it_prints_the_link_that_plays_the_guide_and_no_secret(managed, cli, client, librarian):
    """One link opens the Browser at the right database with the service's guide; the password is only said where."""
    service = str(client.base_url).rstrip("/").replace("127.0.0.1", "localhost")
    code, out, err = await cli("server", "browser", "--service", service, "--namespace", "team:a")
    assert (code, err) == (0, "")
    (link,) = [line for line in out.splitlines() if line.startswith("Neo4j Browser: ")]
    page, _, query = link.removeprefix("Neo4j Browser: ").partition("?")
    assert page.endswith("/browser/")
    assert query.startswith("dbms=bolt://neo4j@127.0.0.1:")
    assert query.endswith(f"&cmd=play&arg={service}/browser-pack/guide.html?namespace=team:a")
    home = librarian.settings.home
    password = (home / "neo4j.password").read_text().strip()
    assert password not in out
    assert str(home / "neo4j.password") in out
    _, reported, _ = await cli("server", "browser", "--service", service, "--show-password")
    assert f"password {password}" in reported


@pytest.mark.parametrize("service", ["http://127.0.0.1:9", "https://librarian.example"])
async def test_without_a_guide_the_link_opens_the_browser_alone(managed, cli, librarian, service):
    """The service is down, or on a host that the Browser takes no guide from: said, and no reason to fail."""
    code, out, err = await cli("server", "browser", "--service", service)
    assert code == 0
    assert "cmd=play" not in out
    assert "/browser/?dbms=bolt://neo4j@127.0.0.1:" in out
    assert service in err


async def test_the_pack_can_be_saved(cli, tmp_path):
    """For a Browser that cannot reach the service, such as that of another server."""
    code, _, err = await cli("server", "browser", "--save", "pack", "--namespace", "a", NEO4J_URI="bolt://127.0.0.1:1")
    assert code == 0
    assert "Drop analyst.grass" in err
    for name in PACK_FILES:
        expected = pack_file(name, base_url="http://localhost:8765", namespace="a")
        assert (tmp_path / "pack" / name).read_bytes() == expected
