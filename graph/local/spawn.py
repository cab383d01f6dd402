"""Starts a keeper as a process of its own."""

import asyncio
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil

from graph.local.errors import ServerStartFailed, ServerTimeout
from graph.local.filelock import is_held
from graph.local.home import Home
from graph.local.jvm import clean_environment
from graph.local.logtail import tail
from graph.local.state import read_state

_PACKAGE_ROOT = Path(__file__).parents[2]
_TIMEOUT_S = 30.0
_POLL_S = 0.05
_TAIL_LINES = 30


async def spawn_keeper(home: Home) -> None:
    """Start a keeper and wait until it has spoken for the first time. Only while holding start.lock.

    One whose starter was killed may have the home before it: then that one is waited for. Raises ServerStartFailed when
    the keeper ends before it has spoken, with the tail of its log.
    """
    keeper = _start(home)
    deadline = time.monotonic() + _TIMEOUT_S
    while (spoke := read_state(home.state).keeper_pid) != keeper.pid:
        if keeper.poll() == 0 and is_held(home.keeper_lock):
            if spoke is not None and psutil.pid_exists(spoke):
                return
        elif keeper.poll() is not None:
            log = tail(home.keeper_log, _TAIL_LINES)
            raise ServerStartFailed(f"The server's keeper ended with code {keeper.returncode}.", log_tail=log)
        if time.monotonic() > deadline:
            raise ServerTimeout(f"The server's keeper did not start within {_TIMEOUT_S:.0f} s.")
        await asyncio.sleep(_POLL_S)


def _start(home: Home) -> subprocess.Popen[bytes]:
    with home.keeper_log.open("ab") as log:
        keeper = subprocess.Popen(
            [sys.executable, "-P", "-m", "graph.local.keeper", str(home.path)],
            cwd=home.path,
            env=clean_environment() | {"PYTHONPATH": str(_PACKAGE_ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C in its starter's terminal reaches neither it nor the server
        )
    # Reaps it if it ends before us: a zombie would look alive to others.
    threading.Thread(target=keeper.wait, name="librarian-keeper-reaper", daemon=True).start()
    return keeper
