"""A home is private, local, and never older than its store."""

import errno
import stat
from pathlib import Path

import pytest

from graph.local.errors import HomeRefused, ServerNotRunning
from graph.local.home import Home, Mount, create_secret, mounts, open_home, refuse_remote

VERSION = "2026.09.0"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_home_is_for_its_owner_alone_even_if_the_folder_was_open_before(tmp_path):
    folder = tmp_path / "with blank and ü"
    folder.mkdir(mode=0o755)
    home = open_home(folder, version=VERSION)
    assert mode(home.path) == 0o700
    assert mode(home.password_file) == 0o600


def test_the_password_is_made_once(tmp_path):
    first = open_home(tmp_path / "h", version=VERSION).password()
    assert len(first) >= 32
    assert open_home(tmp_path / "h", version=VERSION).password() == first
    assert open_home(tmp_path / "other", version=VERSION).password() != first


def test_of_two_who_make_a_secret_at_once_the_first_decides(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "exists", lambda _: False)  # both have looked before either wrote
    create_secret(tmp_path / "s", "first")
    create_secret(tmp_path / "s", "second")
    assert (tmp_path / "s").read_text() == "first\n"


def test_a_secret_once_made_is_kept(tmp_path):
    create_secret(tmp_path / "s", "first")
    create_secret(tmp_path / "s", "second")
    assert (tmp_path / "s").read_text() == "first\n"
    assert list(tmp_path.iterdir()) == [tmp_path / "s"]


def test_a_home_never_opened_has_no_password(tmp_path):
    with pytest.raises(ServerNotRunning):
        Home(tmp_path).password()


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "9p", "drvfs", "fuse.sshfs", "SMBFS"])
def test_network_and_windows_file_systems_are_refused(tmp_path, kind):
    mounted = (Mount(Path("/"), "ext4"), Mount(tmp_path.resolve(), kind))
    with pytest.raises(HomeRefused, match="LIBRARIAN_HOME"):
        refuse_remote(tmp_path / "new" / "home", mounted)


def test_the_nearest_mount_counts_and_names_are_compared_by_parts(tmp_path):
    real = tmp_path.resolve()
    local = (Mount(Path("/"), "nfs"), Mount(real, "ext4"), Mount(real / "home-of-others", "nfs"))
    refuse_remote(tmp_path / "home-of", local)


def test_the_last_of_two_mounts_on_one_point_hides_the_first(tmp_path):
    real = tmp_path.resolve()
    refuse_remote(tmp_path, (Mount(real, "nfs"), Mount(real, "ext4")))


def test_this_machines_root_is_among_its_mounts():
    assert Path("/") in {mount.point for mount in mounts()}


def test_a_store_of_a_newer_server_is_refused(tmp_path):
    home = open_home(tmp_path / "h", version=VERSION)
    home.server_version.write_text("2026.10.2\n")
    with pytest.raises(HomeRefused, match=r"2026\.10\.2"):
        open_home(home.path, version=VERSION)


@pytest.mark.parametrize("older", ["2026.09.0", "2026.08.1", "2025.12.1"])
def test_a_store_of_this_or_an_older_server_is_not(tmp_path, older):
    home = open_home(tmp_path / "h", version=VERSION)
    home.server_version.write_text(f"{older}\n")
    open_home(home.path, version=VERSION)


def test_a_file_in_the_place_of_the_home_is_refused(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(HomeRefused, match="taken cannot be used"):
        open_home(tmp_path / "taken", version=VERSION)


def test_a_home_that_cannot_be_written_is_refused_with_what_to_do(tmp_path, monkeypatch):
    """As on a file system that is mounted read-only, where not even root may write."""

    def refuse(*_args, **_options):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "chmod", refuse)
    with pytest.raises(HomeRefused, match=r"Read-only file system\. .*LIBRARIAN_HOME"):
        open_home(tmp_path / "h", version=VERSION)
