import socket
from dataclasses import replace

import pytest

from librarian.base.errors import SettingsError
from librarian.base.settings.settings import HttpSettings
from librarian.http.server import listen


def test_a_taken_port_names_the_setting():
    with listen(HttpSettings(port=0)) as first, pytest.raises(SettingsError) as caught:
        listen(HttpSettings(port=first.getsockname()[1]))
    assert caught.value.field == "LIBRARIAN_PORT"
    assert "LIBRARIAN_PORT" in caught.value.remedy


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_plain_http_stays_on_this_machine_unless_told_otherwise(host):
    with pytest.raises(SettingsError, match="plain HTTP") as caught:
        listen(HttpSettings(host=host, port=0))
    assert "LIBRARIAN_ALLOW_INSECURE_BIND" in caught.value.remedy


def test_the_operator_can_open_it():
    http = HttpSettings(host="0.0.0.0", port=0)
    with listen(replace(http, allow_insecure_bind=True)) as listening:
        assert listening.getsockname()[0] == "0.0.0.0"


def test_an_address_of_another_machine_is_explained():
    http = HttpSettings(host="192.0.2.1", port=0, allow_insecure_bind=True)
    with pytest.raises(SettingsError) as caught:
        listen(http)
    assert caught.value.field == "LIBRARIAN_HOST"


def test_a_socket_is_free_again_after_a_refusal():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SettingsError):
            listen(HttpSettings(port=port))
    with listen(HttpSettings(port=port)) as listening:
        assert listening.getsockname()[1] == port


def test_answers_do_not_wait_for_acknowledgements():
    """A connection sends small packets at once; otherwise each answer takes 40 ms longer."""
    with listen(HttpSettings(port=0)) as listening, socket.create_connection(listening.getsockname()):
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
