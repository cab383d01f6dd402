import os
import socket

import psutil

from graph.local.jvm import Jvm


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
