"""Parsers of setting values; each raises ValueError, whose message says what the value must be."""

import os
import re
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

from msgspec import Meta

LogFormat = Literal["json", "console"]
LogLevel = Literal["debug", "info", "warning", "error"]
ReasonerChoice = Literal["auto", "heuristic", "llm"]
ProposeFacts = Literal["off", "propose", "accept"]
Seconds = Annotated[float, Meta(gt=0, le=86_400, description="a number of seconds")]
Share = Annotated[float, Meta(ge=0, le=1)]

MASK = "••••••"

_SMALLEST_HEAP_MB, _LARGEST_HEAP_MB = 256, 1_000_000
_NEO4J_SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
_ENCODERS = re.compile(r"onnx|none|sentence-transformers:.+|https?:.+")
_NAMESPACE = re.compile(r"[\w.:@-]{1,128}")

_PERIODS = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86_400.0}
_UNITS = {"m": 60.0, "h": 3600.0, "d": 86_400.0}
_HOST_NAME = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?")
_INTERVAL = re.compile(r"(?P<count>[0-9]{1,5}) ?(?P<unit>[mhd])")
_RATE = re.compile(rf"(?P<requests>[0-9]{{1,9}}) ?/ ?(?P<period>{'|'.join(_PERIODS)})")


@dataclass(frozen=True, slots=True)
class Rate:
    """A limit of `requests` per `per_s` seconds; 0 requests: no limit."""

    requests: int
    per_s: float

    def __str__(self) -> str:
        periods = {seconds: period for period, seconds in _PERIODS.items()}
        return f"{self.requests}/{periods[self.per_s]}" if self.requests else "off"


def is_loopback(host: str) -> bool:
    """Return whether an address is reachable from this machine only."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_address(host: str) -> bool:
    """Return whether `host` is an IP address rather than a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def host_names(raw: str) -> tuple[str, ...]:
    """Return comma-separated host names in lower case."""
    names = tuple(part.strip().lower() for part in raw.split(","))
    if not all(map(_HOST_NAME.fullmatch, names)):
        raise ValueError("it must be names such as librarian.example.com, separated by commas")
    return names


def predicates(raw: str) -> frozenset[str]:
    """Return comma-separated predicates of facts in lower case."""
    names = frozenset(" ".join(part.casefold().split()) for part in raw.split(","))
    if "" in names:
        raise ValueError("it must be predicates such as lives in, separated by commas")
    return names


def absolute_path(raw: str) -> Path:
    """Return an absolute path; `~` is the home directory."""
    if "\0" in raw:
        raise ValueError("a path cannot hold a NUL character")
    return Path(raw).expanduser().absolute()


def absolute_paths(raw: str) -> tuple[Path, ...]:
    """Return colon-separated paths as absolute ones; `~` is the home directory."""
    return tuple(absolute_path(path) for path in raw.split(os.pathsep) if path.strip())


def file_text(raw: str) -> str:
    """Return the text of the file `raw` without its final newline; for mounted secrets."""
    try:
        return absolute_path(raw).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError):
        raise ValueError(f"it must name a readable text file, which {raw} is not") from None


def interval(raw: str) -> float:
    """Return the seconds of an interval in minutes, hours or days; "off" is 0."""
    if raw.lower() == "off":
        return 0.0
    found = _INTERVAL.fullmatch(raw.lower())
    if found is None or int(found["count"]) == 0:
        raise ValueError("it must look like 30m, 12h or 1d, or be off")
    return int(found["count"]) * _UNITS[found["unit"]]


def rate(raw: str) -> Rate:
    """Return a rate such as 6000/minute, or off."""
    if raw.lower() == "off":
        return Rate(0, 1.0)
    found = _RATE.fullmatch(raw.lower())
    if found is None or int(found["requests"]) == 0:
        raise ValueError(f"it must look like 6000/minute (or {', '.join(_PERIODS)}), or be off")
    return Rate(int(found["requests"]), _PERIODS[found["period"]])


def flag(raw: str) -> bool:
    """Return the truth value of 1, 0, or their usual synonyms."""
    if raw.lower() in ("1", "true", "yes", "on"):
        return True
    if raw.lower() in ("0", "false", "no", "off"):
        return False
    raise ValueError("it must be 1 or 0")


def checked_namespace(raw: str) -> str:
    """Return `raw` if it is a namespace."""
    if not _NAMESPACE.fullmatch(raw):
        raise ValueError("a namespace is 1 to 128 letters, digits or . : @ _ -")
    return raw


def encoder_name(raw: str) -> str:
    """Return `raw` if it names an encoder."""
    if not _ENCODERS.fullmatch(raw):
        raise ValueError("it must be onnx, none, sentence-transformers:<name or path> or http:<base url>#<model>")
    return raw


def neo4j_uri(raw: str) -> str:
    """Return `raw` if it is the address of a Neo4j server without a password."""
    parts = urlsplit(raw)
    if parts.scheme not in _NEO4J_SCHEMES or not parts.hostname:
        raise ValueError(f"it must look like neo4j://host:7687 (schemes: {', '.join(_NEO4J_SCHEMES)})")
    if parts.password is not None:
        raise ValueError("the password belongs in NEO4J_PASSWORD")
    return raw


def heap_size(raw: str) -> int:
    """Return a heap size in MB in which files can be indexed."""
    size = int(raw) if raw.isascii() and raw.isdigit() else 0
    if not _SMALLEST_HEAP_MB <= size <= _LARGEST_HEAP_MB:
        raise ValueError(
            f"it must be a number of MB from {_SMALLEST_HEAP_MB} to {_LARGEST_HEAP_MB}: a transaction may use a "
            "quarter of the heap, and storing a batch of files takes more than 32 MB"
        )
    return size


def http_url(raw: str) -> str:
    """Return `raw` if it is an http or https address."""
    parts = urlsplit(raw)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("it must be an http or https address")
    return raw


def secure_url(raw: str) -> str:
    """Return `raw` if it is an https address, or an http one of this machine, without user, query or fragment."""
    parts = urlsplit(http_url(raw))
    if parts.scheme != "https" and not is_loopback(parts.hostname or ""):
        raise ValueError("it must be an https address")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("it must hold no user, query or fragment")
    return raw


def networks(raw: str) -> tuple[str, ...]:
    """Return comma-separated addresses and networks; "none" is the empty list."""
    if raw.lower() == "none":
        return ()
    try:
        parts = [part.strip() for part in raw.split(",")]
        return tuple(str(ip_network(part, strict=False) if "/" in part else ip_address(part)) for part in parts)
    except ValueError:
        raise ValueError("it must be none, or addresses and networks such as 10.0.0.0/8, separated by commas") from None


def expectation(kind: Any, limits: Meta) -> str:
    """Describe the values of type `kind` within `limits`."""
    if choices := get_args(kind):
        return f"it must be {', '.join(choices[:-1])} or {choices[-1]}"
    noun = limits.description or ("a whole number" if kind is int else "a number")
    if limits.gt is not None:
        return f"it must be {noun}, more than {limits.gt:g} and at most {limits.le}"
    return f"it must be {noun} from {limits.ge} to {limits.le}"


def shown(value: object) -> str:
    """Return a value for printing; credentials in addresses are masked."""
    match value:
        case None:
            return ""
        case bool():
            return "1" if value else "0"
        case float():
            return f"{value:g}"
        case tuple():
            return (os.pathsep if isinstance(next(iter(value), None), Path) else ",").join(map(str, value))
    return without_userinfo(str(value))


def without_userinfo(value: str) -> str:
    """Mask the user and password of any address in the value."""
    return re.sub(r"(?<=://)[^/@\s]+@", f"{MASK}@", value)
