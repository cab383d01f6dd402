"""Decoding the bytes of a file, or detecting that they are not text."""

import codecs

BINARY = "binary"
OVERSIZED = "oversized"
UNREADABLE = "unreadable"
TOO_LARGE = "too_large_for_database"
"""Its text needs more memory than the database gives one transaction."""

_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def text_of(data: bytes) -> str | None:
    """Return the text of a file, None for a binary one: UTF-16 by its byte order mark, else UTF-8 without NUL bytes.

    Each invalid byte becomes U+FFFD, so that the text around it can be found.
    """
    for mark, encoding in _UTF16.items():
        if data.startswith(mark):
            return _storable(data[len(mark) :].decode(encoding, "replace"))
    if b"\0" in data:
        return None
    return _storable(data.decode("utf-8-sig", "replace"))


def lines_of(text: str) -> list[str]:
    """Return lines as grep counts them: only line feeds end them, minus a carriage return before one."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _storable(text: str) -> str:
    """Remove characters of decoded UTF-16 that the database cannot store."""
    return text.replace("\0", "\ufffd")
