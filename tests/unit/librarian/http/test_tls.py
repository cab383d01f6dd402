"""The service with a certificate of its own, and behind a proxy; certificates are made for the test."""

import asyncio
import contextlib
import os
import ssl
from dataclasses import replace

import httpx
import pytest
import trustme

from librarian.base.errors import SettingsError
from librarian.base.settings.settings import Settings
from librarian.base.settings.values import networks
from librarian.client import AsyncLibrarianClient
from librarian.http.app import build_app
from librarian.http.server import Server, certificate_of, listen
from librarian.http.tls import Certificate


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture
def issue(authority, tmp_path):
    """Writes a certificate of the authority for `name`, with its key; gives both paths."""

    def write(name="127.0.0.1", stem="service"):
        issued = authority.issue_cert(name)
        chain, key = tmp_path / f"{stem}.crt", tmp_path / f"{stem}.key"
        chain.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
        key.write_bytes(issued.private_key_pem.bytes())
        return chain, key

    return write


@pytest.fixture
def ca_file(authority, tmp_path):
    path = tmp_path / "ca.crt"
    authority.cert_pem.write_to_path(path)
    return path


@pytest.fixture
def serving(settings, keys, starting):
    """Serves the application with some HTTP settings changed; gives the server and its port."""

    @contextlib.asynccontextmanager
    async def serve(**changes):
        @contextlib.asynccontextmanager
        async def connect():
            yield starting

        http = replace(settings.http, port=0, **changes)
        with listen(http) as listening:
            server = Server(build_app(http, keys, connect))
            running = asyncio.create_task(server.serve(sockets=[listening]))
            yield server, listening.getsockname()[1]
            server.should_exit = True
            await running

    return serve


def asked(ca_file):
    context = ssl.create_default_context(cafile=ca_file)
    return httpx.AsyncClient(verify=context, trust_env=False, timeout=60)


async def test_the_service_speaks_tls(serving, issue, ca_file):
    """A client that trusts the authority is answered; one that does not, and plain HTTP, are not."""
    chain, key = issue()
    async with serving(tls_cert=chain, tls_key=key) as (_, port):
        async with asked(ca_file) as trusting:
            assert (await trusting.get(f"https://127.0.0.1:{port}/healthz")).status_code == 200
        async with httpx.AsyncClient(trust_env=False, timeout=60) as stranger:
            with pytest.raises(httpx.ConnectError, match="certificate verify failed"):
                await stranger.get(f"https://127.0.0.1:{port}/healthz")
            with pytest.raises(httpx.TransportError):
                await stranger.get(f"http://127.0.0.1:{port}/healthz")


async def test_the_python_client_trusts_a_named_authority(serving, issue, ca_file, monkeypatch):
    """LIBRARIAN_REMOTE_CA is enough; a file that is none is named."""
    chain, key = issue()
    async with serving(tls_cert=chain, tls_key=key) as (_, port):
        monkeypatch.setenv("LIBRARIAN_REMOTE_CA", str(ca_file))
        async with AsyncLibrarianClient(f"https://127.0.0.1:{port}", "key") as client:
            assert (await client.readiness()).phase == "starting"
    monkeypatch.setenv("LIBRARIAN_REMOTE_CA", str(ca_file.with_name("gone")))
    with pytest.raises(SettingsError) as refused:
        AsyncLibrarianClient("https://127.0.0.1:1", "key")
    assert refused.value.field == "LIBRARIAN_REMOTE_CA"


async def test_a_renewed_certificate_is_taken_over(serving, issue, ca_file):
    """New connections get it, without a restart; a renewal that cannot be used changes nothing."""
    chain, key = issue("other.example")
    async with serving(tls_cert=chain, tls_key=key) as (server, port), asked(ca_file) as client:
        url = f"https://127.0.0.1:{port}/healthz"
        with pytest.raises(httpx.ConnectError, match="certificate verify failed"):
            await client.get(url)
        issue()
        os.utime(chain, ns=(1, 1))
        server._certificate.renew()
        assert (await client.get(url)).status_code == 200
        key.write_text("nothing")
        server._certificate.renew()
    async with asked(ca_file) as client:
        with pytest.raises(SettingsError):
            Certificate(chain, key)


def test_a_certificate_of_another_key_is_refused_at_the_start(issue, settings):
    """With the names of the files and of the setting, before anything listens."""
    chain, _ = issue()
    _, other = issue(stem="other")
    with pytest.raises(SettingsError, match="cannot be used") as refused:
        certificate_of(replace(settings.http, tls_cert=chain, tls_key=other))
    assert refused.value.field == "LIBRARIAN_TLS_CERT"
    assert other.name in str(refused.value)
    with pytest.raises(SettingsError, match="No such file"):
        certificate_of(replace(settings.http, tls_cert=chain, tls_key=other.with_name("gone")))


@pytest.mark.parametrize("given", ["LIBRARIAN_TLS_CERT", "LIBRARIAN_TLS_KEY"])
def test_one_without_the_other_is_refused(given, tmp_path):
    with pytest.raises(SettingsError) as refused:
        Settings.from_env({given: str(tmp_path)})
    assert refused.value.field != given
    assert refused.value.field.startswith("LIBRARIAN_TLS_")


def test_with_a_certificate_it_may_listen_everywhere(settings, issue):
    chain, key = issue()
    with listen(replace(settings.http, host="0.0.0.0", port=0, tls_cert=chain, tls_key=key)) as listening:
        assert listening.getsockname()[0] == "0.0.0.0"


async def failures_until_refused(client, url):
    """Statuses of requests without a key, each said to come from another address, until one is 429 or 250 are not."""
    seen = set()
    for number in range(250):  # one a second is allowed beside the first sixty
        seen.add((await client.get(url, headers={"X-Forwarded-For": f"192.0.2.{number}"})).status_code)
        if 429 in seen:
            break
    return seen


@pytest.mark.parametrize(("proxies", "statuses"), [(("127.0.0.0/8",), {401}), ((), {401, 429})])
async def test_forwarded_addresses_count_from_trusted_proxies_only(serving, proxies, statuses):
    """Who is no trusted proxy cannot get round the limit of failed authentications by naming other addresses."""
    async with serving(trusted_proxies=proxies) as (_, port), httpx.AsyncClient(trust_env=False, timeout=60) as client:
        assert await failures_until_refused(client, f"http://127.0.0.1:{port}/v1/tools") == statuses


def test_proxies_are_addresses_and_networks():
    assert networks("127.0.0.1, 10.1.2.3/8,::1") == ("127.0.0.1", "10.0.0.0/8", "::1")
    assert networks("none") == ()
    for wrong in ("*", "proxy.example", "10.0.0.0/33", ""):
        with pytest.raises(ValueError, match="separated by commas"):
            networks(wrong)
    shown = {entry.name: entry.value for entry in Settings.from_env({}).entries}
    assert shown["LIBRARIAN_TRUSTED_PROXIES"] == ""
