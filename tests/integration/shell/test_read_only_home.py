"""A home that cannot be written: every command says which folder it is and what to do, and leaves nothing behind."""

import os
import shutil
import subprocess

import pytest

from librarian.base.keys import KeyFile, ensure_admin_key

REMEDY = "set LIBRARIAN_HOME to a folder that can be"


@pytest.fixture
def disk(tmp_path):
    """A folder, and what makes it read-only: for root, who may write everywhere, a file system of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid():
        yield folder, lambda: [path.chmod(0o500) for path in (folder, *folder.iterdir())]
        folder.chmod(0o700)
        return
    if shutil.which("mount") is None:
        pytest.skip("root needs the command mount for a folder that it may not write to")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=False, capture_output=True, text=True
    )
    if "permission denied" in mounted.stderr.lower():
        pytest.skip(f"root may not mount a file system here: {mounted.stderr.strip()}")
    assert mounted.returncode == 0, mounted.stderr
    yield folder, lambda: subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.parametrize("state", ["not there yet", "empty", "used before"])
async def test_a_home_that_cannot_be_written_is_named_with_what_to_do(disk, state, finished, program, environment):
    """The service ends at once, as it would never be ready; so does what would write or start the database."""
    folder, make_read_only = disk
    home = folder / "home"
    if state != "not there yet":
        home.mkdir(mode=0o700)
    if state == "used before":
        ensure_admin_key(KeyFile(home / "keys.json"), home)
        (home / "neo4j.password").write_text("secret\n")
    make_read_only()
    before = contents(folder)
    elsewhere = {**environment, "LIBRARIAN_HOME": str(home)}
    elsewhere.pop("NEO4J_URI", None)
    for words in (("serve", "--port", "0"), ("search", "rye"), ("remember", "rye"), ("server", "start"), ("backup",)):
        code, out, err = await finished(program, *words, env=elsewhere)
        assert (code, out) == (78, ""), (words, err)
        assert str(home) in err
        assert REMEDY in err
    if home.exists():
        code, _, err = await finished(program, "server", "stop", env=elsewhere)
        assert (code, REMEDY in err) == (78, True)
    _, out, err = await finished(program, "doctor", env={**elsewhere, "COLUMNS": "300"})
    assert f"{home} cannot be written" in out
    assert REMEDY in out + err
    assert contents(folder) == before


def contents(folder):
    """Every path below a folder, with what files hold."""
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}
