"""Property values as JSON and back, without loss: native types that JSON lacks become an object with one tagged member.

A time keeps its nanoseconds and its offset or zone; a whole-numbered decimal stays a decimal; vectors are 32-bit
floats, as the vector index holds them, in base64.
"""

import base64
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, timedelta, timezone
from types import MappingProxyType
from typing import Any

import pytz
from neo4j.spatial import CartesianPoint, Point, WGS84Point
from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector

_UTC_SUFFIX = "Z"
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z", re.ASCII)
_POINTS: Mapping[int, type[Point]] = MappingProxyType(
    {4326: WGS84Point, 4979: WGS84Point, 7203: CartesianPoint, 9157: CartesianPoint}
)


def to_json(value: Any) -> Any:
    """Return a property value as JSON; the database may supply a UTC time as the map {utc: text}. Raises TypeError for
    a value that no property of ours can hold.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case {"utc": str(text)}:
            return {"$datetime": text}
        case float():
            return value if math.isfinite(value) else {"$float": repr(value)}
        case list():
            return [to_json(inner) for inner in value]
        case bytes() | bytearray():
            return {"$bytes": base64.b64encode(value).decode()}
        case DateTime() | Date() | Time() | Duration():
            return _time_to_json(value)
        case Point():
            return {"$point": [value.srid, *value]}
    raise TypeError(f"a property cannot hold a {type(value).__name__}")


def from_json(value: Any) -> Any:
    """Invert `to_json`, for the driver. Raises ValueError for JSON that represents no value."""
    match value:
        case int() if not _LOWEST <= value <= _HIGHEST:
            raise ValueError("a whole number has at most 64 bits")
        case None | bool() | int() | float() | str():
            return value
        case list():
            if any(isinstance(inner, list) for inner in value):
                raise ValueError("no property nests lists")
            return [from_json(inner) for inner in value]
        case dict():
            return _tagged(value)
    raise ValueError(f"{type(value).__name__} is not a property value")


def properties_to_json(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties that are set, by name."""
    return {name: to_json(value) for name, value in sorted(properties.items()) if value is not None}


def properties_from_json(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Invert `properties_to_json`. Raises ValueError, which names the property."""
    found = {}
    for name, value in properties.items():
        try:
            found[name] = from_json(value)
        except (ValueError, TypeError, AttributeError, OverflowError) as error:
            raise ValueError(f"property {name!r}: {error}") from None
    return found


def take_moments(properties: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the properties without UTC times, as JSON, and those times as text for the database, which reads them in a
    twentieth of the time that the driver takes to pack them.
    """
    moments = {
        name: value["$datetime"]
        for name, value in properties.items()
        if isinstance(value, dict) and _MOMENT.fullmatch(value.get("$datetime", ""))
    }
    return {name: value for name, value in properties.items() if name not in moments}, moments


def vector_to_json(vector: Vector) -> str:
    """Return a vector as base64 of little-endian 32-bit floats, the precision that the graph holds."""
    return base64.b64encode(vector.raw(byteorder="little")).decode()


def vector_from_json(text: str) -> Vector:
    """Invert `vector_to_json`. Raises ValueError."""
    return Vector(base64.b64decode(text, validate=True), "f32", byteorder="little")


def _time_to_json(value: DateTime | Date | Time | Duration) -> dict[str, Any]:
    match value:
        case DateTime():
            return {"$local_datetime" if value.tzinfo is None else "$datetime": _moment(value)}
        case Date():
            return {"$date": value.iso_format()}
        case Time():
            return {"$local_time" if value.tzinfo is None else "$time": value.iso_format()}
        case Duration():
            return {"$duration": list(value)}


def _moment(value: DateTime) -> str:
    """Return ISO 8601 to the nanosecond, followed by the zone's name in brackets if it has one. The driver shows an
    offset of zero as the zone UTC.
    """
    clock = f"{value.year:04}-{value.month:02}-{value.day:02}T{value.hour:02}:{value.minute:02}:{value.second:02}"
    text = f"{clock}.{value.nanosecond:09}".rstrip("0").rstrip(".") if value.nanosecond else clock
    if value.tzinfo is None:
        return text
    offset = value.utcoffset() or timedelta()
    zone = getattr(value.tzinfo, "zone", None) or getattr(value.tzinfo, "key", None)
    if zone == "UTC" or (zone is None and not offset):
        return text + _UTC_SUFFIX
    minutes = int(offset.total_seconds()) // 60
    sign, minutes = ("-", -minutes) if minutes < 0 else ("+", minutes)
    return f"{text}{sign}{minutes // 60:02}:{minutes % 60:02}" + (f"[{zone}]" if zone else "")


def _tagged(value: Mapping[str, Any]) -> Any:
    if len(value) != 1:
        raise ValueError("a tagged value has one member")
    ((tag, tagged),) = value.items()
    read = _READERS.get(tag)
    if read is None:
        raise ValueError(f"unknown value tag {tag!r}")
    return read(tagged)


def _read_moment(text: str) -> DateTime:
    if text.endswith(_UTC_SUFFIX):
        return _local(text[:-1]).replace(tzinfo=UTC)
    plain, _, zone = text.partition("[")
    if zone:
        # By the instant, as the driver does: the wall clock alone is ambiguous in the hour that a zone repeats.
        return DateTime.from_iso_format(plain).astimezone(_zone(zone.removesuffix("]")))
    moment = DateTime.from_iso_format(plain)
    return moment.replace(tzinfo=timezone(moment.utcoffset() or timedelta()))


def _zone(name: str) -> Any:
    try:
        return pytz.timezone(name)
    except pytz.UnknownTimeZoneError:
        raise ValueError(f"unknown time zone {name!r}") from None


def _local(text: str) -> DateTime:
    clock, _, fraction = text.partition(".")
    day, _, time = clock.partition("T")
    year, month, day_of_month = map(int, day.split("-"))
    hour, minute, second = map(int, time.split(":"))
    return DateTime(year, month, day_of_month, hour, minute, second, int(fraction.ljust(9, "0")) if fraction else 0)


def _read_time(text: str) -> Time:
    moment: Time = Time.from_iso_format(text)
    return moment


def _read_duration(parts: Sequence[int]) -> Duration:
    months, days, seconds, nanoseconds = parts
    return Duration(months=months, days=days, seconds=seconds, nanoseconds=nanoseconds)


def _read_point(parts: Sequence[float]) -> Point:
    srid, *coordinates = parts
    if srid not in _POINTS:
        raise ValueError(f"unknown coordinate system {srid!r}")
    return _POINTS[int(srid)](coordinates)


_READERS: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        "$float": float,
        "$bytes": lambda text: base64.b64decode(text, validate=True),
        "$datetime": _read_moment,
        "$local_datetime": _local,
        "$date": Date.from_iso_format,
        "$time": _read_time,
        "$local_time": _read_time,
        "$duration": _read_duration,
        "$point": _read_point,
    }
)
