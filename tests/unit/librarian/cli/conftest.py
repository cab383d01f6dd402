"""What tests of commands share."""

import resource

import pytest


@pytest.fixture
def full_disk():
    """The bytes beyond which no file may grow, as on a disk that is full."""
    room = 64 * 1024
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    yield room
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
