"""Bytes of a file as text, or why they are none."""

import codecs

BINARY = "binary"
OVERSIZED = "oversized"
UNREADABLE = "unreadable"

_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def text_of(data: bytes) -> str | None:
    """Return the text of a file, or None for a binary one: UTF-16 by its byte order mark, else UTF-8 without NUL bytes.

    Bytes that are no text become U+FFFD each, so that what stands around them is found.
    """
    for mark, encoding in _UTF16.items():
        if data.startswith(mark):
            return _storable(data[len(mark) :].decode(encoding, "replace"))
    if b"\0" in data:
        return None
    return _storable(data.decode("utf-8-sig", "replace"))


def lines_of(text: str) -> list[str]:
    """Return lines as grep counts them: line feeds alone end them, without a carriage return before one."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _storable(text: str) -> str:
    """Decoded UTF-16 may hold what the database does not."""
    return text.replace("\0", "\ufffd")
