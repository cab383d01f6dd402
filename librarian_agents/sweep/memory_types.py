"""The seven types of a memory."""

from enum import StrEnum


class MemoryType(StrEnum):
    """The type of a memory; `str` of a member is its spelling in the graph, the wire and reports."""

    PATTERN = "Pattern"
    """A way of doing things to repeat: a convention, a working rule."""
    DECISION = "Decision"
    """A choice that was made, with or without its reason."""
    PROBLEM = "Problem"
    """Something broken, missing or blocking."""
    INSIGHT = "Insight"
    """Something learned about how things behave."""
    EXCEPTION = "Exception"
    """A deliberate departure from a rule: a suppression, a special case."""
    REFERENCE = "Reference"
    """Where or how to look something up."""
    UNKNOWN = "Unknown"
    """None of these, or nobody can tell."""

    @classmethod
    def parse(cls, text: str) -> "MemoryType":
        """Return the type of this name, ignoring case and surrounding blanks.

        Raises ValueError for any other name.
        """
        try:
            return _BY_NAME[text.strip().casefold()]
        except KeyError:
            raise ValueError(f"{text[:40]!r} is no memory type; known are {', '.join(MemoryType)}") from None


_BY_NAME = {str(one).casefold(): one for one in MemoryType}
