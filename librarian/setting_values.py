"""Texts of the environment as values: each parser raises ValueError, which says what the value must be."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from retrieval.fusion import FusionMethod
from retrieval.rerankers.base import Endpoint

LogFormat = Literal["json", "console"]
LogLevel = Literal["debug", "info", "warning", "error"]
ReasonerChoice = Literal["auto", "heuristic", "llm"]

MASK = "••••••"

_NEO4J_SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
_ENCODERS = re.compile(r"onnx|none|sentence-transformers:.+|https?:.+")
_NAMESPACE = re.compile(r"[\w.:@-]{1,128}")


_PERIODS = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86_400.0}
_UNITS = {"m": 60.0, "h": 3600.0, "d": 86_400.0}
_INTERVAL = re.compile(r"(?P<count>[0-9]{1,5}) ?(?P<unit>[mhd])")
_RATE = re.compile(rf"(?P<requests>[0-9]{{1,9}}) ?/ ?(?P<period>{'|'.join(_PERIODS)})")


@dataclass(frozen=True, slots=True)
class Rate:
    """So many requests in so many seconds; 0 requests: no limit."""

    requests: int
    per_s: float

    def __str__(self) -> str:
        periods = {seconds: period for period, seconds in _PERIODS.items()}
        return f"{self.requests}/{periods[self.per_s]}" if self.requests else "off"


def is_loopback(host: str) -> bool:
    """Whether an address can only be reached from this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def absolute_path(raw: str) -> Path:
    """An absolute path; `~` is the home directory."""
    if "\0" in raw:
        raise ValueError("a path cannot hold a NUL character")
    return Path(raw).expanduser().absolute()


def absolute_paths(raw: str) -> tuple[Path, ...]:
    """Absolute paths with colons between them; `~` is the home directory."""
    return tuple(absolute_path(one) for one in raw.split(os.pathsep) if one.strip())


def file_text(raw: str) -> str:
    """What stands in a file, without the line's end; for secrets that are mounted."""
    try:
        return absolute_path(raw).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError):
        raise ValueError(f"it must name a file of text that can be read, which {raw} is not") from None


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """A parser of whole numbers from `low` to `high`."""

    def parse(raw: str) -> int:
        if not re.fullmatch(r"[0-9]{1,12}", raw) or not low <= int(raw) <= high:
            raise ValueError(f"it must be a whole number from {low} to {high}")
        return int(raw)

    return parse


def seconds(raw: str) -> float:
    """A number of seconds, at most a day."""
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", raw) or not 0 < float(raw) <= 86_400:
        raise ValueError("it must be a number of seconds, more than 0 and at most 86400")
    return float(raw)


def number(low: float, high: float) -> Callable[[str], float]:
    """A parser of decimal numbers from `low` to `high`."""

    def parse(raw: str) -> float:
        if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", raw) or not low <= float(raw) <= high:
            raise ValueError(f"it must be a number from {low:g} to {high:g}")
        return float(raw)

    return parse


def interval(raw: str) -> float:
    """A number of seconds, given as minutes, hours or days; "off" is 0."""
    if raw.lower() == "off":
        return 0.0
    found = _INTERVAL.fullmatch(raw.lower())
    if found is None or int(found["count"]) == 0:
        raise ValueError("it must look like 30m, 12h or 1d, or be off")
    return int(found["count"]) * _UNITS[found["unit"]]


def rate(raw: str) -> Rate:
    """A rate such as 6000/minute, or off."""
    if raw.lower() == "off":
        return Rate(0, 1.0)
    found = _RATE.fullmatch(raw.lower())
    if found is None or int(found["requests"]) == 0:
        raise ValueError(f"it must look like 6000/minute (or {', '.join(_PERIODS)}), or be off")
    return Rate(int(found["requests"]), _PERIODS[found["period"]])


def flag(raw: str) -> bool:
    """1 or 0, or the usual words for them."""
    if raw.lower() in ("1", "true", "yes", "on"):
        return True
    if raw.lower() in ("0", "false", "no", "off"):
        return False
    raise ValueError("it must be 1 or 0")


def log_format(raw: str) -> LogFormat:
    """A log format."""
    match raw.lower():
        case "json" | "console" as known:
            return known
    raise ValueError("it must be json or console")


def log_level(raw: str) -> LogLevel:
    """A log level."""
    match raw.lower():
        case "debug" | "info" | "warning" | "error" as known:
            return known
    raise ValueError("it must be debug, info, warning or error")


def namespace(raw: str) -> str:
    """A namespace."""
    if not _NAMESPACE.fullmatch(raw):
        raise ValueError("a namespace is 1 to 128 letters, digits or . : @ _ -")
    return raw


def encoder_name(raw: str) -> str:
    """Which encoder to use."""
    if not _ENCODERS.fullmatch(raw):
        raise ValueError("it must be onnx, none, sentence-transformers:<name or path> or http:<base url>#<model>")
    return raw


def neo4j_uri(raw: str) -> str:
    """A Neo4j server's address, without a password."""
    parts = urlsplit(raw)
    if parts.scheme not in _NEO4J_SCHEMES or not parts.hostname:
        raise ValueError(f"it must look like neo4j://host:7687 (schemes: {', '.join(_NEO4J_SCHEMES)})")
    if parts.password is not None:
        raise ValueError("the password belongs into NEO4J_PASSWORD")
    return raw


def http_url(raw: str) -> str:
    """An http or https address."""
    parts = urlsplit(raw)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("it must be an http or https address")
    return raw


def networks(raw: str) -> tuple[str, ...]:
    """Addresses and networks, with commas between them; "none" is the empty list."""
    if raw.lower() == "none":
        return ()
    try:
        return tuple(_network(one.strip()) for one in raw.split(","))
    except ValueError:
        raise ValueError("it must be none, or addresses and networks such as 10.0.0.0/8, separated by commas") from None


def _network(one: str) -> str:
    return str(ip_network(one, strict=False)) if "/" in one else str(ip_address(one))


def reasoner_choice(raw: str) -> ReasonerChoice:
    """Who reasons in the search agent."""
    match raw.lower():
        case "auto" | "heuristic" | "llm" as known:
            return known
    raise ValueError("it must be auto, heuristic or llm")


def fusion_method(raw: str) -> FusionMethod:
    """How the rankings of a search become one."""
    match raw.lower():
        case "linear" | "rrf" | "score_sum" | "score_max" as known:
            return known
    raise ValueError("it must be linear, rrf, score_sum or score_max")


def rerank_endpoint(raw: str) -> Endpoint:
    """How pairs are put to a reranker's server."""
    match raw.lower():
        case "chat" | "rerank" as known:
            return known
    raise ValueError("it must be chat or rerank")


def shown(value: object) -> str:
    """A value as it is printed; credentials in addresses are masked."""
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
    """The value with the user and password of any address in it masked."""
    return re.sub(r"(?<=://)[^/@\s]+@", f"{MASK}@", value)
