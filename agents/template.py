"""A memory in four sections: CONTEXT, REASONING, OUTCOME and TAGS. Pure.

Sentences are assigned to sections and never rewritten: by the heading or label they stand under, by words that tell a
reason or an outcome, else with what they follow. Code, tables and lists move whole. Headings of the text stay as
headings below the sections'. What has the sections already is left alone; so is what cannot be written without loss.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from agents.components import components, specs
from agents.losses import Loss, losses
from agents.markdown import Form, Unit, open_fence, units
from agents.memory_types import MemoryType


class Section(StrEnum):
    """The sections in their order."""

    CONTEXT = "CONTEXT"
    REASONING = "REASONING"
    OUTCOME = "OUTCOME"
    TAGS = "TAGS"


@dataclass(frozen=True, slots=True)
class Templated:
    """A text in sections, or the text as it was (`changed` false) with the reasons among `warnings`.

    `losses` is not empty only where writing the sections would have lost something.
    """

    text: str
    changed: bool
    warnings: tuple[str, ...] = ()
    losses: tuple[Loss, ...] = ()


_SORTED = (Section.CONTEXT, Section.REASONING, Section.OUTCOME)
_SECTION_LINE = re.compile(r"## (CONTEXT|REASONING|OUTCOME|TAGS)")
_TYPE_TAG = re.compile(r"^type:[ \t]*\S", re.MULTILINE)
_NOISE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]")
_MOST_NOISE = 0.02
_TOP_LEVEL = 3
_DEEPEST = 6

_NAMES: Mapping[Section, re.Pattern[str]] = {
    Section.REASONING: re.compile(
        r"why|reason|reasoning|rationale|motivation|trade-?offs?|alternatives?|options|considered|analysis|discussion|"
        r"(?:root )?causes?|because|pros|cons|drivers|forcing event|evidence|理由|根拠|原因|背景と理由|検討|代替案|分析"
    ),
    Section.OUTCOME: re.compile(
        r"decisions?|decided|chosen|outcome|results?|resolution|resolved|fix(?:ed)?|solution|conclusions?|consequences?|"
        r"workaround|action(?:s| items?)?|lessons?(?: learned)?|takeaways?|follow-?ups?|impact|mitigation|status|"
        r"implementation|決定(?:事項)?|結論|結果|対応|対策|解決(?:策)?|教訓|学び|影響"
    ),
    Section.CONTEXT: re.compile(
        r"context|background|problem|issue|situation|symptoms?|overview|summary|description|observed|observation|"
        r"when|where|steps to reproduce|expected|actual|背景|状況|文脈|概要|問題|課題|症状|現象"
    ),
}
_REASON = re.compile(
    r"\b(?:because|due to|so that|in order to|rationale|reasons?|trade-?offs?|caused by|root cause|that is why|"
    r"which means|otherwise|the (?:point|idea|goal) (?:is|was)|as opposed to|rather than|compared (?:to|with)|"
    r"(?:in)?sufficient|since (?!\d|version|v\d|the (?:release|last)))\b|ため|ので|から(?=[、。])|理由|なぜなら|原因",
    re.IGNORECASE,
)
_OUTCOME = re.compile(
    r"\b(?:decided|decision|chose|chosen|we (?:will|now|use|went with|agreed|would like to)|"
    r"will (?:adopt|use|introduce|replace|implement|switch|move|keep|be (?:used|added|removed|replaced))|"
    r"is adopted|adopted|switched to|"
    r"moved to|replaced (?:by|with)|instead|as a result|therefore|thus|so we|fixed|fix(?:es)? (?:is|was|by)|resolved|"
    r"solved|workaround|mitigated|(?<!if it )turn(?:s|ed) out|learned|lesson|must|should|always|never|do not|don't|"
    r"prefer|from now on|going forward)\b|"
    r"決定|採用|することにした|ことになった|した結果|その結果|解決|修正|必ず|べき|わかった|学んだ",
    re.IGNORECASE,
)
_LEANS_BACK = re.compile(
    r"(?:this|that|these|those|it|its|they|he|she|such|however|but|also|and|then|otherwise|for example|e\.g\.|"
    r"in (?:this|that) case|note that)\b|これ|それ|その|この|しかし|ただし|また|例えば",
    re.IGNORECASE,
)
# What a memory of one sentence says: of these types the point itself, of the others how things are.
_POINT_FIRST = {MemoryType.PATTERN, MemoryType.DECISION, MemoryType.INSIGHT, MemoryType.EXCEPTION}


def apply_template(content: str, type_: MemoryType) -> str:
    """`content` in sections; unchanged where it has them already or where something would be lost."""
    return templated(content, type_).text


def templated(content: str, type_: MemoryType) -> Templated:
    """`content` in sections, and what there is to say about it. Never raises for any text."""
    if reason := _left_alone(content, type_):
        return Templated(content, changed=False, warnings=(reason,))
    if present := sections_in(content):
        return Templated(content, changed=False, warnings=tuple(_malformations(content, present)))
    body = _sorted(units(content), type_)
    texts = {section: _joined(body[section]) for section in _SORTED}
    if lost := losses(content, "\n".join(texts.values())):
        return Templated(content, changed=False, warnings=(_refusal(lost),), losses=tuple(lost))
    empty = tuple(f"nothing stands under {section}" for section, text in texts.items() if not text)
    return Templated(_written(texts, _tags(content, type_)), changed=True, warnings=empty)


def sections_in(text: str) -> list[Section]:
    """The section headings of `text` in the order in which they stand, those in fenced code left out."""
    headings = (unit.text for unit in units(text) if unit.form is Form.HEADING)
    return [Section(found[1]) for heading in headings if (found := _SECTION_LINE.fullmatch(heading))]


def _left_alone(content: str, type_: MemoryType) -> str | None:
    if not content.strip():
        return "the text is empty"
    if len(_NOISE.findall(content)) > _MOST_NOISE * len(content):
        return "this is no text: too many control characters"
    if type_ is MemoryType.UNKNOWN:
        return "a text of unknown type gets no sections"
    return None


def _malformations(text: str, present: Sequence[Section]) -> Iterator[str]:
    yield from (f"section {section} is missing" for section in Section if section not in present)
    yield from (f"section {section} stands there twice" for section in Section if present.count(section) > 1)
    once = list(dict.fromkeys(present))
    if once != [section for section in Section if section in once]:
        yield "the sections stand in another order"
    if Section.TAGS in present and not _TYPE_TAG.search(text):
        yield "the tags name no type"


def _refusal(lost: Sequence[Loss]) -> str:
    kinds = ", ".join(sorted({one.kind for one in lost}))
    return f"left as it was: {len(lost)} tokens would be lost ({kinds})"


Body = dict[Section, list[tuple[int, Unit]]]


def _sorted(all_units: Sequence[Unit], type_: MemoryType) -> Body:
    """The units of each section with their places in the text."""
    body: Body = {section: [] for section in _SORTED}
    assigned = _assigned(all_units)
    if set(assigned) == {Section.CONTEXT} and type_ in _POINT_FIRST and _is_one_statement(all_units):
        assigned = [Section.OUTCOME] * len(assigned)
    for place, (unit, section) in enumerate(zip(_fitted(all_units), assigned, strict=True)):
        body[section].append((place, unit))
    return body


def _is_one_statement(all_units: Sequence[Unit]) -> bool:
    return sum(unit.form is not Form.HEADING for unit in all_units) == 1


def _assigned(all_units: Sequence[Unit]) -> list[Section]:
    """The section of each unit; a heading goes with what stands under it."""
    found: list[Section] = []
    headings = 0
    under: tuple[int, Section] | None = None
    for unit in all_units:
        if unit.form is Form.HEADING:
            under = _opened(unit, under)
            headings += 1
            continue
        section = under[1] if under else _own(unit, found[-1] if found else None)
        found.extend([section] * (headings + 1))
        headings = 0
    return found + [found[-1] if found else Section.CONTEXT] * headings


def _opened(heading: Unit, under: tuple[int, Section] | None) -> tuple[int, Section] | None:
    """The level and the section of the heading that counts from here on: a deeper one counts only if it names one."""
    level, named = _level(heading), _named(heading.text.strip("# \t*:：").casefold())
    if named:
        return level, named
    return under if under and level > under[0] else None


def _own(unit: Unit, previous: Section | None) -> Section:
    """By its label, else by its words; what has neither, or leans on what was said, stays with that."""
    if unit.label and (named := _named(unit.label)):
        return named
    before = previous or Section.CONTEXT
    if unit.form is Form.BLOCK or (previous and (unit.form is Form.ITEM or _LEANS_BACK.match(unit.text))):
        return before
    outcome, reason = _OUTCOME.search(unit.text), _REASON.search(unit.text)
    if outcome and reason:
        return Section.OUTCOME if outcome.start() < reason.start() else Section.REASONING
    return Section.OUTCOME if outcome else Section.REASONING if reason else before


def _named(name: str) -> Section | None:
    return next((section for section, names in _NAMES.items() if names.fullmatch(name)), None)


def _fitted(all_units: Sequence[Unit]) -> Iterator[Unit]:
    """The units, headings deep enough to stand below the sections', code closed that ran to the end of the text."""
    levels = [_level(unit) for unit in all_units if unit.form is Form.HEADING]
    shift = max(0, _TOP_LEVEL - min(levels, default=_TOP_LEVEL))
    for unit in all_units:
        if unit.form is Form.HEADING:
            level = _level(unit)
            unit = replace(unit, text="#" * min(_DEEPEST, level + shift) + unit.text[level:])
        elif unit.form is not Form.SENTENCE and (fence := open_fence(unit.text)):
            unit = replace(unit, text=f"{unit.text}\n{fence}")
        yield unit


def _level(heading: Unit) -> int:
    return len(heading.text) - len(heading.text.lstrip("#"))


def _tags(content: str, type_: MemoryType) -> list[str]:
    return [
        f"type: {type_.lower()}",
        *(f"component: {name}" for name in components(content)),
        *(f"spec: {name}" for name in specs(content)),
    ]


def _written(texts: Mapping[Section, str], tags: Sequence[str]) -> str:
    sections = [f"## {section}\n{text}" for section, text in texts.items()]
    return "\n".join([*sections, f"## {Section.TAGS}\n" + "\n".join(tags) + "\n"])


def _joined(placed: Sequence[tuple[int, Unit]]) -> str:
    """Units that were neighbours keep the white space between them; others are set apart."""
    pieces = []
    previous: tuple[int, Unit] | None = None
    for place, unit in placed:
        if previous is not None:
            pieces.append(unit.before if place == previous[0] + 1 else _gap(previous[1], unit))
        pieces.append(unit.text)
        previous = place, unit
    return "".join(pieces) + "\n" if pieces else ""


def _gap(before: Unit, after: Unit) -> str:
    if before.form is after.form is Form.SENTENCE and "\n" not in after.before:
        return after.before or " "
    return "\n" if before.form is after.form is Form.ITEM else "\n\n"
