import os
import socket

import psutil
import pytest

from graph.local.errors import ServerStartFailed
from graph.local.jvm import Jvm, free_port, require_free


def test_a_port_belongs_to_the_process_that_listens_on_it():
    own, parent = Jvm(psutil.Process(os.getpid())), Jvm(psutil.Process(os.getpid()).parent())
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        assert not own.listens_on(port)
        listening.listen()
        assert own.listens_on(port)
        assert not parent.listens_on(port)
    assert not own.listens_on(port)


def test_a_port_that_is_taken_is_refused_or_replaced():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert free_port(port) != port
        with pytest.raises(ServerStartFailed, match=f"configured bolt port {port} is taken"):
            require_free(port, "bolt")
    require_free(port, "bolt")
    assert free_port(port) == port
