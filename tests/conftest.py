"""How a run is divided between processes, and how long property tests may take."""

from typing import Any

import hypothesis
import pytest
from xdist.scheduler import LoadFileScheduling

# They start, move and kill servers of their own, which takes longest: first, or they would keep one process busy at the
# end and leave the others idle.
SERVERS = tuple(f"tests/integration/{folder}/" for folder in ("faults", "local", "migrations", "spaces"))
NO_SERVER = "tests/architecture/"


# A machine that is busy is no reason to fail: neither a test's deadline nor the pace of its examples.
hypothesis.settings.register_profile(
    "patient", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow], print_blob=True
)
hypothesis.settings.load_profile("patient")


class Scheduling(LoadFileScheduling):
    """The tests of a file stay together, and so do the files of a folder that use the graph: they share what is loaded
    into it, and the statements that its server has planned.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return file.rpartition("/")[0] if nodeid.startswith("tests/integration/") else file


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The servers' tests first, the rest as it is. The first folder of them makes the home that all copy; meanwhile the
    other processes do what needs no server.
    """
    first = next((item.path.parent for item in items if item.nodeid.startswith(SERVERS)), None)
    items.sort(
        key=lambda item: (
            item.path.parent != first,
            not item.nodeid.startswith(NO_SERVER),
            not item.nodeid.startswith(SERVERS),
        )
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduling:
    """The scheduling above, for every run with more than one process."""
    return Scheduling(config, log)
