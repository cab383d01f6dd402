"""The limit of a single text, wherever it stands in what comes in."""

from collections.abc import Iterator

import msgspec

from librarian.errors import PayloadTooLarge


def refuse_long_texts(body: bytes, most_chars: int) -> None:
    """Raise PayloadTooLarge naming the first text of a JSON body that is longer than `most_chars` characters.

    JSON that cannot be read is left to who reads it.
    """
    if len(body) <= most_chars:  # no character takes less than one byte
        return
    try:
        where = next(_longer(msgspec.json.decode(body), "$", most_chars), None)
    except (msgspec.DecodeError, RecursionError):
        return
    if where is not None:
        raise PayloadTooLarge(
            f"a text is longer than {most_chars} characters",
            field=where,
            remedy="Split it; the operator can set LIBRARIAN_MAX_TEXT_CHARS up to 1000000.",
        )


def _longer(value: object, path: str, most_chars: int) -> Iterator[str]:
    """Paths of the texts that are too long."""
    match value:
        case str() if len(value) > most_chars:
            yield path
        case list():
            for number, element in enumerate(value):
                yield from _longer(element, f"{path}[{number}]", most_chars)
        case dict():
            for name, element in value.items():
                yield from _longer(element, f"{path}.{name}", most_chars)
