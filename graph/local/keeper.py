"""The keeper: a small process in its own session that owns one home's server.

It starts the server, restarts it if it dies while needed, and stops it when the last lease has ended. It holds
keeper.lock all its life and is the only writer of state.json. Run as `python -m graph.local.keeper HOME`.
"""

import logging
import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from subprocess import SubprocessError

from graph.local import jvm, leases
from graph.local.conf import Ports
from graph.local.errors import ServerStartFailed
from graph.local.filelock import attempt, try_acquire
from graph.local.home import Home, write_secret
from graph.local.jvm import EXIT_REASONS, Jvm
from graph.local.login import PasswordRefused, answers, load_driver, prepare_password
from graph.local.logtail import tail
from graph.local.state import Launch, Phase, ServerState, read_launch, read_state, write_state

START_BUDGET_S = 60.0
RECOVERY_BUDGET_S = 180.0
"""Replaying the log of 100,000 writes took 41 s on two cores (measured); this is over four times that."""

STOP_BUDGET_S = 90.0
"""A clean stop writes a checkpoint: 12 s for 100,000 nodes."""

MAX_QUICK_FAILURES = 5
_PORT_ATTEMPTS = 4
_STABLE_S = 30.0
_BACKOFF_S = 0.5
_POLL_S = 0.2
_START_POLL_S = 0.05
_REFUSALS_S = 15.0
_REFUSED_POLL_S = 2.0
"""Three refusals lock an account for five seconds, so a refused password is retried slowly."""
_LOCK_PATIENCE_S = 5.0
_TAIL_LINES = 30

logger = logging.getLogger("librarian.graph")


class _StopAsked(Exception):
    """An operator has asked this keeper to stop."""


class Keeper:
    """A keeper's life: start or adopt, watch, stop."""

    def __init__(self, home: Home, launch: Launch) -> None:
        self._home = home
        self._launch = launch
        self._last = read_state(home.state)
        self._state = ServerState(keeper_pid=os.getpid(), version=launch.version, java=launch.java)
        self._jvm: Jvm | None = None
        self._stop_asked = False
        self._quick_failures = 0
        self._ready_at = 0.0
        self._linger_until = 0.0

    def run(self) -> None:
        """Run until nobody needs the server, an operator stops it, or it cannot be kept running."""
        signal.signal(signal.SIGTERM, self._ask_stop)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            self._begin()
            self._watch()
        except _StopAsked:
            logger.info("stopping, as asked")
        except ServerStartFailed as error:
            self._fail(str(error.args[0]), error.log_tail)
            return
        except (OSError, SubprocessError) as error:  # a JVM that was removed, a full disk
            self._fail(f"{type(error).__name__}: {error}", "")
            return
        self._bring_down()

    def _ask_stop(self, _signal: int, _frame: object) -> None:
        self._stop_asked = True

    def _begin(self) -> None:
        """Adopt the server that a dead keeper left, or start one."""
        leases.collect(self._home.leases)  # users of the previous keeper, whose lingering ended with it
        found = jvm.find(self._home, self._last)
        if found is not None and self._last.phase is Phase.STOPPING:
            self._publish(Phase.STARTING)
            self._last = replace(self._last, clean=found.stop(STOP_BUDGET_S))
        elif found is not None:
            self._adopt(found)
            return
        phase = Phase.STARTING if self._last.clean or not self._home.has_store else Phase.RECOVERING
        self._publish(phase)
        prepare_password(self._home, self._launch)
        self._start_on_free_ports(phase)

    def _adopt(self, server: Jvm) -> None:
        logger.info("adopted the running server, process %d", server.pid)
        self._jvm = server
        self._state = replace(self._state, bolt_port=self._last.bolt_port, http_port=self._last.http_port)
        # How far a server had come that was not ready is unknown: it may be in the middle of a recovery.
        self._publish_process(self._last.phase if self._last.phase is Phase.READY else Phase.RECOVERING)
        self._await_answer(RECOVERY_BUDGET_S)

    def _start_on_free_ports(self, phase: Phase) -> None:
        """Start the server, on other ports if another program takes a free one in the meantime."""
        for tries in range(1, _PORT_ATTEMPTS + 1):
            ports = jvm.choose_ports(self._launch)
            self._state = replace(self._state, bolt_port=ports.bolt, http_port=ports.http)
            try:
                self._start(phase)
            except ServerStartFailed:
                if tries == _PORT_ATTEMPTS or not jvm.lost_a_port(self._home):
                    raise
                logger.warning("another program took a port meanwhile, trying others")
                self._server().stop(STOP_BUDGET_S)
            else:
                return

    def _start(self, phase: Phase) -> None:
        """Start the server and wait for its first answer."""
        self._jvm = jvm.start(self._home, self._launch, self._ports())
        logger.info("started process %d on bolt port %d", self._jvm.pid, self._ports().bolt)
        self._publish_process(phase)
        self._await_answer(RECOVERY_BUDGET_S if phase is Phase.RECOVERING else START_BUDGET_S)

    def _await_answer(self, budget_s: float) -> None:
        load_driver()
        deadline = time.monotonic() + budget_s
        while not self._answers(until=time.monotonic() + _REFUSALS_S):
            self._refuse_dead()
            if time.monotonic() > deadline:
                raise ServerStartFailed(f"Neo4j did not answer within {budget_s:.0f} s of its start.")
            self._pause(_START_POLL_S)
        write_secret(self._home.server_version, self._launch.version)
        self._ready_at = time.monotonic()
        self._publish_process(Phase.READY)
        logger.info("ready")

    def _answers(self, *, until: float) -> bool:
        """Return whether the server answers; a refused password counts only after `until`."""
        while True:
            try:
                port = self._ports().bolt
                return self._server().listens_on(port) and answers(self._home, port)
            except PasswordRefused:
                if time.monotonic() > until:
                    raise
            self._pause(_REFUSED_POLL_S)

    def _refuse_dead(self) -> None:
        server = self._server()
        if not server.is_alive():
            code = server.exit_code
            reason = EXIT_REASONS.get(code or 0, f"exit code {code}")
            raise ServerStartFailed(f"Neo4j ended while starting: {reason}.")

    def _watch(self) -> None:
        """Watch the server until nobody needs it."""
        while not self._is_over():
            if not self._server().is_alive():
                self._restart()
            self._pause(_POLL_S)

    def _restart(self) -> None:
        """Restart a dead server on its ports with growing pauses; give up after MAX_QUICK_FAILURES in a row."""
        logger.warning("process %d died", self._server().pid)
        if time.monotonic() - self._ready_at > _STABLE_S:
            self._quick_failures = 0
        while True:
            self._quick_failures += 1
            if self._quick_failures > MAX_QUICK_FAILURES:
                raise ServerStartFailed(f"Neo4j died {MAX_QUICK_FAILURES} times shortly after its start.")
            self._publish(Phase.RECOVERING)
            self._pause(_BACKOFF_S * 2 ** (self._quick_failures - 1))
            try:
                self._start(Phase.RECOVERING)
            except ServerStartFailed as error:
                logger.warning("restart %d failed: %s", self._quick_failures, error)
                self._server().stop(STOP_BUDGET_S)
            else:
                return

    def _is_over(self) -> bool:
        """Return whether the last lease and its linger time have ended; while checking, nobody can take a new lease."""
        if self._is_needed():
            return False
        with attempt(self._home.start_lock) as alone:
            if not alone or self._is_needed():
                return False
            self._publish(Phase.STOPPING)
            return True

    def _is_needed(self) -> bool:
        census = leases.collect(self._home.leases)
        if census.ended:
            self._linger_until = time.monotonic() + max(lease.linger_s for lease in census.ended)
        return bool(census.held) or self._home.pinned.exists() or time.monotonic() < self._linger_until

    def _bring_down(self) -> None:
        self._publish(Phase.STOPPING)
        clean = self._end_server()
        self._publish(Phase.STOPPED)
        logger.info("stopped%s", "" if clean else ", not cleanly: the next start recovers")

    def _fail(self, reason: str, log_tail: str) -> None:
        """Report the reason, and leave nothing running."""
        log = log_tail or (tail(self._home.console_log, _TAIL_LINES) if self._jvm else "")
        self._end_server()
        self._state = replace(self._state, error=reason, log_tail=log)
        self._publish(Phase.FAILED)
        logger.error("gave up: %s", reason)

    def _end_server(self) -> bool:
        """Stop the server if there is one; return whether the store was closed cleanly."""
        clean = self._last.clean
        if self._jvm is not None:
            clean = self._jvm.is_alive() and self._jvm.stop(STOP_BUDGET_S)
        self._state = replace(self._state, pid=None, pid_started=None, clean=clean)
        return clean

    def _pause(self, seconds: float) -> None:
        """Sleep, but wake up for a stop (_StopAsked)."""
        deadline = time.monotonic() + seconds
        while not self._stop_asked and time.monotonic() < deadline:
            time.sleep(min(_POLL_S, seconds))
        if self._stop_asked:
            raise _StopAsked

    def _server(self) -> Jvm:
        if self._jvm is None:
            raise AssertionError("no server was started yet")
        return self._jvm

    def _ports(self) -> Ports:
        if self._state.bolt_port is None or self._state.http_port is None:
            raise ServerStartFailed("The running server's ports are unknown. Stop its process and start again.")
        return Ports(self._state.bolt_port, self._state.http_port)

    def _publish_process(self, phase: Phase) -> None:
        server = self._server()
        self._state = replace(self._state, pid=server.pid, pid_started=server.started)
        self._publish(phase)

    def _publish(self, phase: Phase) -> None:
        self._state = replace(self._state, phase=phase)
        write_state(self._home.state, self._state)


def _lock_for_life(home: Home) -> bool:
    """Hold keeper.lock until this process ends. Retried, because checking the lock holds it for a moment."""
    deadline = time.monotonic() + _LOCK_PATIENCE_S
    while try_acquire(home.keeper_lock) is None:
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def main() -> None:
    """Keep the server of the home given as the only argument."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s keeper %(process)d: %(message)s")
    logging.getLogger("neo4j").setLevel(logging.ERROR)  # its failed connection attempts are our polling
    home = Home(Path(sys.argv[1]))
    if not _lock_for_life(home):
        logger.info("another keeper has this home")
        return
    Keeper(home, read_launch(home.launch)).run()


if __name__ == "__main__":
    main()
