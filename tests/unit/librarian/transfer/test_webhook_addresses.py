"""Where webhooks may lead, and how deliveries are signed."""

import asyncio
import base64
import ipaddress
import socket
import ssl
import stat
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
import trustme

from librarian.base.errors import InvalidInput
from librarian.base.settings.settings import WebhookSettings
from librarian.transfer.feed import signing
from librarian.transfer.feed.addresses import AddressRefused, addresses_of, checked_url, is_public
from librarian.transfer.feed.delivery import Payload, send
from librarian.transfer.feed.webhooks import wait_s


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "172.20.0.4", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
     "255.255.255.255", "::1", "::", "fe80::1", "fd00::1", "ff02::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1",
     "2002:7f00:1::"],
)  # fmt: skip
def test_an_address_inside_a_network_is_not_public(address):
    """Loopback, private, link-local and shared networks, multicast, and addresses that carry one of these."""
    assert not is_public(ipaddress.ip_address(address))


def test_addresses_of_the_internet_are_public():
    """Also one of version 4 written as version 6."""
    assert all(is_public(ipaddress.ip_address(each)) for each in ("9.9.9.9", "2606:4700::1111", "::ffff:9.9.9.9"))


@pytest.mark.parametrize(
    "url",
    ["http://hooks.example.com/x", "ftp://hooks.example.com", "https://", "https://u:p@hooks.example.com/",
     "https://hooks.example.com/#part", "https://127.0.0.1/x", "https://[::1]/x", "https://localhost/x",
     "https://a.localhost/", "https://hooks.example.com:99999/", "https://hooks.example.com/a b", "https://höoks.example/",
     "https://169.254.169.254/latest"],
)  # fmt: skip
def test_a_url_that_no_webhook_may_have_is_refused(url):
    """With the field, and what would do."""
    with pytest.raises(InvalidInput) as error:
        checked_url(url, private=False)
    assert error.value.field == "$.url"


async def test_a_name_that_leads_inside_is_refused_when_it_is_connected(monkeypatch):
    """Whatever it led to before; one private address among public ones is enough."""
    parts = checked_url("https://hooks.example.com/x", private=False)
    found = ["9.9.9.9"]

    def getaddrinfo(_host, port, *_args, **_options):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    assert await addresses_of(parts, private=False) == ["9.9.9.9"]
    found.append("192.168.0.7")
    with pytest.raises(AddressRefused):
        await addresses_of(parts, private=False)
    assert await addresses_of(parts, private=True) == found


async def test_what_is_public_is_never_spoken_to_without_tls():
    """Also where private addresses are allowed."""
    with pytest.raises(AddressRefused):
        await addresses_of(checked_url("http://9.9.9.9/x", private=True), private=True)


@pytest.mark.parametrize(
    ("named", "outcome"), [("hooks.example.com", (200, None)), ("other.example", (None, "connection"))]
)
async def test_the_certificate_has_to_name_the_host_and_not_the_address(tmp_path, monkeypatch, named, outcome):
    """The connection goes to the address that was looked at, and TLS to the name."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(named).configure_cert(context)
    heads = []

    async def receive(reader, writer):
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(receive, "127.0.0.1", 0, ssl=context) as server:
        port = server.sockets[0].getsockname()[1]
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_options: found)
        webhook = SimpleNamespace(namespace="a", webhook_id="wh_1", url=f"https://hooks.example.com:{port}/x?y=1")
        settings = WebhookSettings(tmp_path / "webhooks.secret", private=True)
        payload = Payload(type="test", timestamp=datetime.now(UTC), data={})
        assert tuple(await send(settings, webhook, "id", payload)) == outcome
    for head in heads:
        assert head.startswith(b"POST /x?y=1 HTTP/1.1\r\n")
        assert f"host: hooks.example.com:{port}\r\n".encode() in head.lower()
    assert len(heads) == (outcome[0] == 200)


def test_a_signature_is_that_of_standard_webhooks():
    """The example of its reference libraries."""
    secret = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    assert signing.shown(secret) == "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    assert signing.headers(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}') == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_every_webhook_has_a_secret_of_its_own(tmp_path):
    """From one file, which only its owner can read; the same again as long as that stays."""
    path = tmp_path / "home" / "webhooks.secret"
    ours = signing.secret_of(path, "a", "wh_1")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(ours) == 32
    assert ours == signing.secret_of(path, "a", "wh_1")
    assert len({ours, signing.secret_of(path, "b", "wh_1"), signing.secret_of(path, "a", "wh_2")}) == 3


def test_attempts_come_ever_later():
    """From seconds to an hour, never all at the same moment."""
    assert all(4 <= wait_s(0) <= 6 for _ in range(20))
    assert all(32 <= wait_s(3) <= 48 for _ in range(20))
    assert all(2880 <= wait_s(1000) <= 4320 for _ in range(20))
    assert len({wait_s(2) for _ in range(20)}) > 1
