"""Locks and leases live exactly as long as their holder."""

import asyncio
import os
import subprocess
import sys

import pytest

from graph.local import leases
from graph.local.errors import ServerTimeout
from graph.local.filelock import attempt, exclusive, is_held, try_acquire
from graph.local.leases import LeaseInfo


def test_a_lock_is_held_until_its_descriptor_closes(tmp_path):
    lock = tmp_path / "lock"
    assert not is_held(lock)
    descriptor = try_acquire(lock)
    assert is_held(lock)
    assert try_acquire(lock) is None
    with attempt(lock) as alone:
        assert not alone
    os.close(descriptor)
    assert not is_held(lock)


async def test_waiting_for_a_lock_ends_when_it_is_free_or_with_an_error(tmp_path):
    lock = tmp_path / "lock"
    descriptor = try_acquire(lock)
    with pytest.raises(ServerTimeout, match="locked by another process"):
        async with exclusive(lock, timeout_s=0):
            pass
    asyncio.get_running_loop().call_later(0.1, os.close, descriptor)
    async with exclusive(lock, timeout_s=30):
        assert is_held(lock)


def test_a_lease_is_counted_while_held_and_reported_once_when_it_ended(tmp_path):
    info = LeaseInfo(pid=1, purpose="test", linger_s=600)
    descriptor = leases.take(tmp_path, info)
    assert leases.count(tmp_path) == (info,)
    assert leases.collect(tmp_path) == leases.Census(held=(info,), ended=())
    os.close(descriptor)
    assert leases.count(tmp_path) == ()
    assert leases.collect(tmp_path) == leases.Census(held=(), ended=(info,))
    assert leases.collect(tmp_path) == leases.Census(held=(), ended=())


def test_a_lease_ends_with_a_process_that_is_killed(tmp_path):
    script = (
        "import sys, pathlib; from graph.local import leases\n"
        "leases.take(pathlib.Path(sys.argv[1]), leases.LeaseInfo(0, 'victim', 0))\n"
        "print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        assert [info.purpose for info in leases.count(tmp_path)] == ["victim"]
        holder.kill()
    assert [info.purpose for info in leases.collect(tmp_path).ended] == ["victim"]


def test_an_unreadable_lease_counts_without_a_name(tmp_path):
    (tmp_path / "1-x.lease").write_text("{")
    assert leases.collect(tmp_path).ended == (LeaseInfo(0, "unknown", 0.0),)
