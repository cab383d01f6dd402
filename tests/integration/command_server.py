"""Runs `librarian` and `python` for tests in forks of one process that has loaded both.

    python command_server.py SOCKET

Commands are what they are from a shell (arguments, environment, folder, standard streams and exit code of their own);
they only need not load their libraries anew. A command ends with whoever asked for it, the server with its input. The
answer is a line with the command's process id, at once, and its exit code at its end.
"""

import fcntl
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import warnings
from pathlib import Path

import graph
import librarian
import librarian_agents
import retrieval
from librarian import cli

_ROOM = 1 << 20
# What our modules load on first use.
_HEAVY = ("neo4j", "neomodel", "onnxruntime", "tokenizers", "numpy", "httpx", "rich.table", "mcp.server")


def main(address):
    load()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        os.write(1, b"listening\n")
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            connection, _ = listening.accept()
            if os.fork() == 0:
                os._exit(_answer(connection))
            connection.close()


def load():
    """Everything that forks would load one by one."""
    for package in (graph, librarian, librarian_agents, retrieval):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    for name in _HEAVY:
        importlib.import_module(name)


def _answer(connection):
    """Take over what the caller is, run its command, and report the exit code; a traceback ends without one."""
    asked, streams = _asked(connection)
    connection.sendall(b"%d\n" % os.getpid())
    # SIGIO ends a process, and comes when the other end of the connection is gone.
    fcntl.fcntl(connection, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(connection, fcntl.F_SETFL, os.O_ASYNC)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    code = _finished(asked["program"], asked["arguments"])
    connection.sendall(str(code).encode())
    return code


def _asked(connection):
    received, streams, _, _ = socket.recv_fds(connection, _ROOM, 3)
    while not received.endswith(b"\n"):
        received += connection.recv(_ROOM)
    return json.loads(received), streams


def _finished(program, arguments):
    code = 0
    try:
        _PROGRAMS[program](arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def _librarian(arguments):
    sys.argv = [str(Path(sys.executable).with_name("librarian")), *arguments]
    cli.main()


def _python(arguments):
    """A file with its arguments; anything else a Python of its own. Warnings are errors."""
    if arguments[0].startswith("-"):
        sys.exit(subprocess.call([sys.executable, *arguments]))
    warnings.simplefilter("error")
    sys.argv = arguments
    sys.path[0] = str(Path(arguments[0]).resolve().parent)
    runpy.run_path(arguments[0], run_name="__main__")


_PROGRAMS = {"librarian": _librarian, "python": _python}

if __name__ == "__main__":
    main(sys.argv[1])
