"""Stop conditions, parsed from a task's wording. Pure functions.

They say whether all items or any one suffices, how many references each needs, and whether each must name its source.
"""

import re
from dataclasses import dataclass

from librarian_agents.search.types import EvidenceTask

MAX_REFERENCES = 5

_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "二": 2, "三": 3, "四": 4, "五": 5}
_ANY = re.compile(
    r"\b(?:any|either|at least one|one) (?:one )?of (?:the |them|these)|\bas soon as (?:any|one)\b"
    r"|\bany (?:single |one )?(?:target )?items?\b"
    r"|\bone (?:target )?item is (?:enough|sufficient)\b"
    r"|いずれか|どれか(?:一つ|ひとつ|1つ)?|どちらか(?:一方)?|項目のうち(?:一つ|ひとつ|1つ)",
    re.IGNORECASE,
)
_REFERENCES = re.compile(
    r"\b(\d|two|three|four|five) (?:or more )?(?:independent |different |separate |specific |distinct )*"
    r"(?:references?|sources?|documents?|passages?|pieces of evidence)"
    r"|([2-5２-５二三四五])(?:つ|件|個|点)(?:以上)?の(?:資料|出典|根拠|文献|文書|箇所)"
    r"|(?:資料|出典|根拠|文献|文書|箇所)(?:が|を|は)?(?:それぞれ)?([2-5２-５二三四五])(?:つ|件|個|点)",
    re.IGNORECASE,
)
_SPECIFIC = re.compile(
    r"\bspecific (?:references?|sources?|pages?)|\bwith (?:a |their )?(?:source|page|reference)s?\b|\bpage numbers?\b"
    r"|出典(?:つき|付き|と)|ページ番号|具体的な(?:出典|参照|箇所)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class StopRule:
    """The end of the search: every item, or `any_item`.

    Each needs `references` references; `specific` prefers those that name their source.
    """

    any_item: bool = False
    references: int = 1
    specific: bool = False

    @classmethod
    def of(cls, task: EvidenceTask) -> "StopRule":
        """Read the stop conditions and the intent of `task`; the default is every item once."""
        text = f"{task.stop_conditions or ''}\n{task.intent or ''}"
        counted = _REFERENCES.search(text)
        return cls(
            any_item=_ANY.search(text) is not None,
            references=1 if counted is None else _count(next(filter(None, counted.groups()))),
            specific=_SPECIFIC.search(text) is not None,
        )


def _count(written: str) -> int:
    number = _NUMBERS.get(written.casefold())
    return min(MAX_REFERENCES, max(1, int(written) if number is None else number))
