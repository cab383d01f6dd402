"""Checks of the machine: the home and its files, the keys, and the port."""

import os
import shutil
import socket
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import httpx

from graph.local.errors import UNWRITABLE_REMEDY
from graph.local.home import Home, mounts, refuse_remote
from librarian.base.findings import Check, Look
from librarian.base.keys import ADMIN_KEY_FILE, KeyFile
from librarian.base.settings.settings import BackupSettings, HttpSettings, Settings
from librarian.http.middleware import REQUEST_ID_HEADER
from librarian.transfer.retention import backups_in, overdue

LOW_DISK_MB = 2_048
"""The server's transaction log alone may take 512 MB, and a checkpoint needs space beside the store."""

FULL_DISK_MB = 256
_MIB = 2**20
_SOON = timedelta(days=14)
_ASK_S = 5.0


def machine_checks(settings: Settings) -> dict[str, Look]:
    """Return the checks by name, in order."""
    return {
        "home": partial(_home, settings),
        "disk": partial(_disk, settings),
        "keys": partial(_keys, settings),
        "port": partial(_port, settings.http),
        "backup": partial(_backup, settings.backup),
    }


def _home(settings: Settings) -> Check:
    home = settings.home
    refuse_remote(home, mounts())
    if not os.access(_nearest(home), os.R_OK | os.W_OK | os.X_OK):
        return Check("home", "failed", f"{home} cannot be written", UNWRITABLE_REMEDY)
    if not home.exists():
        return Check("home", "ok", f"{home} will be made at the first start")
    for path in (home, Home(home).password_file, home / ADMIN_KEY_FILE):
        if _open_to_others(path):
            mode = "700" if path == home else "600"
            return Check("home", "failed", f"{path} is open to other users", f"chmod {mode} {str(path)!r}")
    return Check("home", "ok", str(home))


def _disk(settings: Settings) -> Check:
    folder = _nearest(settings.home)
    free_mb = shutil.disk_usage(folder).free // _MIB
    detail = f"{free_mb:,} MiB are free in {folder}"
    remedy = "Make room, or move LIBRARIAN_HOME to a larger disk: a full one stops every write."
    if free_mb < FULL_DISK_MB:
        return Check("disk", "failed", detail, remedy)
    return Check("disk", "warning", detail, remedy) if free_mb < LOW_DISK_MB else Check("disk", "ok", detail)


def _keys(settings: Settings) -> Check:
    path = settings.keys_file
    keys = KeyFile(path).list()
    if not path.exists():
        return Check("keys", "ok", f"{path} will be made at the first `librarian serve`")
    if _open_to_others(path):
        return Check("keys", "warning", f"{path} is open to other users", f"chmod 600 {str(path)!r}")
    now = datetime.now(UTC)
    valid = [key for key in keys if key.is_valid_at(now)]
    if not valid:
        expired = sum(not key.revoked for key in keys)
        detail = f"none of {len(keys)} keys in {path} is valid ({expired} expired, {len(keys) - expired} revoked)"
        return Check("keys", "failed", detail, "`librarian keys create` makes one.")
    ending = [key for key in valid if not key.is_valid_at(now + _SOON)]
    if ending:
        named = ", ".join(f"{key.name} ({key.id}) on {key.expires_at:%Y-%m-%d}" for key in ending)
        return Check("keys", "warning", f"soon to expire: {named}", "Make new ones with `librarian keys create`.")
    return Check("keys", "ok", f"{len(valid)} valid keys of {len(keys)} in {path}")


async def _port(http: HttpSettings) -> Check:
    """Check whether `serve` could listen, or what is listening already."""
    address = f"{http.host}:{http.port}"
    if http.port == 0:
        return Check("port", "ok", "any free one")
    if _is_free(http):
        return Check("port", "ok", f"{address} is free")
    phase = await _phase_of_ours(http)
    if phase is None:
        remedy = "Stop it, or choose another port with LIBRARIAN_PORT or --port."
        return Check("port", "failed", f"{address} is taken by another program", remedy)
    if phase != "ready":
        remedy = "Its /readyz says why."
        return Check("port", "warning", f"a Librarian service listens on {address} and is {phase}", remedy)
    return Check("port", "ok", f"a Librarian service is ready on {address}")


def _backup(plan: BackupSettings) -> Check:
    newest = backups_in(plan.folder)[:1]
    if problem := overdue(plan):
        return Check("backup", "warning", problem, "A service makes them; its log says what went wrong.")
    made = f"the newest in {plan.folder} was made at {newest[0].made_at:%Y-%m-%d %H:%M} UTC" if newest else "none"
    if not plan.every_s:
        return Check("backup", "ok", f"{made}; no schedule (LIBRARIAN_BACKUP_EVERY)")
    return Check("backup", "ok", made)


def _is_free(http: HttpSettings) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in http.host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((http.host, http.port))
        except OSError:
            return False
    return True


async def _phase_of_ours(http: HttpSettings) -> str | None:
    """Return the phase of the Librarian service on the port; None if another program listens."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(http.host, http.host)  # noqa: S104 - compared, not bound
    try:
        # The certificate is for the service's name, not for this address; nothing secret is sent.
        async with httpx.AsyncClient(trust_env=False, timeout=_ASK_S, verify=False) as client:  # noqa: S501 - see above
            answer = await client.get(f"{http.url_at(host, http.port)}/readyz")
            body = answer.json()
    except (httpx.HTTPError, ValueError):
        return None
    ours = REQUEST_ID_HEADER in answer.headers and isinstance(body, dict)
    phase = body.get("phase") if ours else None
    return phase if isinstance(phase, str) else None


def _nearest(path: Path) -> Path:
    """Return the folder itself, or its nearest existing ancestor."""
    return next(each for each in (path, *path.parents) if each.exists())


def _open_to_others(path: Path) -> bool:
    return path.exists() and bool(path.stat().st_mode & 0o077)
