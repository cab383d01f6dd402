"""A server's home folder: layout, permitted locations, password."""

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

from graph.local.errors import UNWRITABLE_REMEDY, HomeRefused, ServerNotRunning

# flock and fsync are unreliable there: two servers could open one store, or a commit could be lost.
_REFUSED_TYPES = frozenset(
    {
        *("nfs", "nfs3", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "ncpfs", "afpfs", "afs", "webdav", "davfs"),
        *("ceph", "glusterfs", "lustre", "9p", "v9fs", "drvfs", "vboxsf", "prl_fs"),
        *("fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.gvfsd-fuse", "fuse.glusterfs", "fuse.vmhgfs-fuse"),
    }
)
_PASSWORD_BYTES = 24

UPGRADE_PREFIX = "before-upgrade-"
"""Prefix of dumps made before a newer server opens a store for the first time."""


@dataclass(frozen=True, slots=True)
class Mount:
    """A mounted file system: mount point, and type as the operating system names it."""

    point: Path
    type: str


@dataclass(frozen=True, slots=True)
class Home:
    """The paths in one home. Neo4j's own folders (data, logs, …) lie beside ours."""

    path: Path

    @property
    def conf(self) -> Path:
        """Folder of neo4j.conf, which is rewritten at every start."""
        return self.path / "conf"

    @property
    def leases(self) -> Path:
        """One locked file for each user of the server."""
        return self.path / "leases"

    @property
    def keeper_lock(self) -> Path:
        """Locked while a keeper lives."""
        return self.path / "keeper.lock"

    @property
    def start_lock(self) -> Path:
        """Locked while someone decides whether to start or stop."""
        return self.path / "start.lock"

    @property
    def state(self) -> Path:
        """The keeper's latest report about the server."""
        return self.path / "state.json"

    @property
    def launch(self) -> Path:
        """The keeper's instructions for starting."""
        return self.path / "launch.json"

    @property
    def pinned(self) -> Path:
        """Exists while an operator wants the server up without users."""
        return self.path / "pinned"

    @property
    def maintenance_lock(self) -> Path:
        """Locked during work that takes the server down; holds its description."""
        return self.path / "maintenance.lock"

    @property
    def data(self) -> Path:
        """The store, the users and the transaction logs."""
        return self.path / "data"

    @property
    def data_before(self) -> Path:
        """The previous store, while another is being moved into its place."""
        return self.path / "data.before"

    @property
    def backups(self) -> Path:
        """Default folder of backups."""
        return self.path / "backups"

    @property
    def server_version(self) -> Path:
        """The newest server version that has opened this store."""
        return self.path / "server.version"

    @property
    def password_file(self) -> Path:
        """The password of the user neo4j: whoever can read it controls the graph."""
        return self.path / "neo4j.password"

    @property
    def first_password_file(self) -> Path:
        """The temporary password, as long as the server may still have it."""
        return self.path / "neo4j.first-password"

    @property
    def console_log(self) -> Path:
        """Output of the server process since its last start."""
        return self.path / "logs" / "console.log"

    @property
    def keeper_log(self) -> Path:
        """Output of keepers."""
        return self.path / "logs" / "keeper.log"

    @property
    def has_store(self) -> bool:
        """Whether a server has ever opened this home."""
        return (self.data / "databases" / "system").is_dir()

    def password(self) -> str:
        """Return the password of the user neo4j. Raises ServerNotRunning before the first start."""
        try:
            return self.password_file.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            raise ServerNotRunning(
                f"{self.path} has no password yet: it is made at the first `librarian server start`."
            ) from None


def open_home(path: Path, *, version: str) -> Home:
    """Create a home for a server of `version` at `path`, or check an existing one. Raises HomeRefused with the reason.

    Only the owner can access the folder and its contents.
    """
    home = make_home(path)
    finish_exchange(home)
    _refuse_newer(home, version)
    create_secret(home.password_file, secrets.token_urlsafe(_PASSWORD_BYTES))
    return home


def make_home(path: Path) -> Home:
    """Create missing folders of a home. Raises HomeRefused if they cannot be created or used."""
    home = Home(path.expanduser().absolute())
    refuse_remote(home.path, mounts())
    _make_folders(home)
    return home


def refuse_remote(path: Path, mounted: Iterable[Mount]) -> None:
    """Raise HomeRefused when `path` lies on a network file system or on a Windows drive mounted into Linux."""
    real = path.resolve()
    over = [mount for mount in mounted if real.is_relative_to(mount.point)]
    # max returns the first of equals, and of two mounts on one point the later hides the other.
    nearest = max(reversed(over), key=lambda mount: len(mount.point.parts), default=None)
    if nearest is not None and nearest.type.lower() in _REFUSED_TYPES:
        raise HomeRefused(
            f"{path} lies on a file system of type {nearest.type}, which keeps neither locks nor commits safe. "
            "Set LIBRARIAN_HOME to a folder on a local disk."
        )


def refuse_unwritable(path: Path) -> None:
    """Raise HomeRefused for an existing home that cannot be written."""
    if not os.access(path, os.W_OK | os.X_OK):
        raise HomeRefused(f"{path} cannot be written. {UNWRITABLE_REMEDY}")


def mounts() -> tuple[Mount, ...]:
    """Return the mounts of this machine, the last one on a mount point last."""
    return tuple(Mount(Path(part.mountpoint), part.fstype) for part in psutil.disk_partitions(all=True))


def write_secret(path: Path, text: str) -> None:
    """Write a file that only its owner can read, completely or not at all."""
    _write_scratch(path, text).replace(path)


def create_secret(path: Path, text: str) -> None:
    """Like `write_secret`, unless the file exists: of several processes at once, one decides for all."""
    if path.exists():
        return
    scratch = _write_scratch(path, text)
    with contextlib.suppress(FileExistsError):
        path.hardlink_to(scratch)
    scratch.unlink()


def version_key(version: str) -> tuple[int, ...]:
    """Return a sort key for a calendar version such as 2026.09.0."""
    return tuple(int(part) for part in version.split("."))


def _write_scratch(path: Path, text: str) -> Path:
    scratch = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(descriptor)
    return scratch


def _make_folders(home: Home) -> None:
    try:
        home.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        home.path.chmod(0o700)
        for folder in (home.conf, home.leases, home.console_log.parent):
            folder.mkdir(exist_ok=True)
    except OSError as error:
        raise HomeRefused(f"{home.path} cannot be used as a home: {error.strerror}. {UNWRITABLE_REMEDY}") from error


def finish_exchange(home: Home) -> None:
    """Finish what a killed restore left: the previous store counts until the new one is in its place."""
    if not home.data_before.is_dir():
        return
    if home.data.exists():
        shutil.rmtree(home.data_before, ignore_errors=True)
    else:
        home.data_before.rename(home.data)


def _refuse_newer(home: Home, version: str) -> None:
    if not home.server_version.exists():
        return
    opened_by = home.server_version.read_text(encoding="utf-8").strip()
    if version_key(opened_by) > version_key(version):
        raise HomeRefused(
            f"{home.path} was last used by Neo4j {opened_by}, this is {version}, and a store cannot be downgraded. "
            "Use the newer Librarian; or restore the backup made before the upgrade "
            f"({home.backups}/{UPGRADE_PREFIX}*) into another LIBRARIAN_HOME."
        )
