"""A memory in four sections: CONTEXT, REASONING, OUTCOME and TAGS. Pure.

Sentences are assigned to sections and never rewritten: by their heading or label, by their function (give a reason,
report a result, describe circumstances), otherwise by their position. A decision belongs to OUTCOME; the clause with
its reason is split off. Code, tables and lists move whole. Headings of the text stay as headings below the sections'.
No section is empty: if a text has point and reason but no circumstances, the memory's known ones (its date, its domain)
are put under CONTEXT, and a text that fills fewer sections is left alone. So are texts that already have sections, and
texts that cannot be written without loss.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib.resources import files

from librarian_agents.sweep.components import components, specs
from librarian_agents.sweep.losses import Loss, losses
from librarian_agents.sweep.markdown import Form, Unit, open_fence, units
from librarian_agents.sweep.memory_types import MemoryType
from librarian_agents.sweep.phrases import any_of, lower_case


class Section(StrEnum):
    """The sections, in order."""

    CONTEXT = "CONTEXT"
    REASONING = "REASONING"
    OUTCOME = "OUTCOME"
    TAGS = "TAGS"


@dataclass(frozen=True, slots=True)
class Templated:
    """A text in sections, or the unchanged text (`changed` false) with the reasons among `warnings`.

    `losses` is only non-empty if writing the sections would have lost something.
    """

    text: str
    changed: bool
    warnings: tuple[str, ...] = ()
    losses: tuple[Loss, ...] = ()


_SORTED = (Section.CONTEXT, Section.REASONING, Section.OUTCOME)
_SECTION_LINE = re.compile(r"## (CONTEXT|REASONING|OUTCOME|TAGS)")
_TYPE_TAG = re.compile(r"^(?:-[ \t]*)?type:[ \t]*\S", re.MULTILINE)
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
_BEGINS: Mapping[Section, re.Pattern[str]] = {
    Section.REASONING: re.compile(r"(?:root cause|reasons?|chosen because|why)\b"),
    Section.OUTCOME: re.compile(r"(?:decision|results?|outcome|fix|lessons?)\b"),
    Section.CONTEXT: re.compile(r"(?:background|context)\b"),
}
# The function of a sentence, by its words. Results precede reasons: "Since the restart it works" reports one.
_AFTERWARDS = re.compile(
    r"(?:after|once|since|with|by the|now that|as soon as)\b(?! (?:all|us|them|regard|respect)\b)", re.IGNORECASE
)
# A clause with the reason for the rest of its sentence, after or before it.
_REASON_BEHIND = re.compile(
    r"(?:,|(?<=\w))(?P<gap>\s+)(?P<reason>(?:because(?: of)?|due to|owing to|thanks to"
    r"|since (?!\d|then|version|last|yesterday)"
    r"|(?<=, )as (?!well|of|if|a rule|planned|usual|always|before|far|long|soon))\b.{8,})$",
    re.IGNORECASE | re.DOTALL,
)
_REASON_BEFORE = re.compile(
    r"(?P<reason>(?:(?:because(?: of)?|due to|owing to|thanks to|given|as (?!of|from|a rule|soon|long|far))\b"
    r"[^,\n]{6,160},"
    r"|[^。、\n:：]{4,80}(?:(?:ため(?:に)?|ので|せいで|おかげで|ことにより)、|(?:おかげ|せい)で)))(?P<gap>\s*)(?=\S)",
    re.IGNORECASE,
)
# An item in bold type up to a colon, followed by the explanation.
_EXPLAINED = re.compile(r"(?P<point>\s*[-*+•]\s+\*\*[^*\n]{4,80}\*\*[:：,、])\s*(?=\S[^\n]*$)")
# A clause that announces an explanation after its colon.
_COLON = re.compile(
    r"\b(?:why|reasons?|causes?|culprit|clear|explanation|(?:worked|found|figured) out|turn(?:s|ed) out)\b"
    r"[^:：]{0,80}[:：]"
    r"(?P<gap>\s+)(?=\S.{11,}$)",
    re.IGNORECASE | re.DOTALL,
)
_STATES_CAUSE = re.compile(
    r"\W*(?:(?:the )?(?:root )?(?:cause|reason)|why|because|due to)\b|[^。]{0,40}(?:原因|理由|ため、|ので、|せいで)",
    re.IGNORECASE,
)
_JAPANESE_LABEL = re.compile(r"[^\s:：。]{1,8}[:：]\s*")
_FEWEST_CHARS = 8
_SEMICOLON = re.compile(r";\s+(?=[^\W\d_])")
_POINT_FIRST = {MemoryType.PATTERN, MemoryType.DECISION, MemoryType.EXCEPTION}
"""Types whose point is an action; the point of the others is an event or a finding."""
_INDIVISIBLE = {MemoryType.REFERENCE}


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    """Return the patterns of the functions of sentences in template.toml, for text in lower case."""
    table = tomllib.loads(files("librarian_agents.sweep").joinpath("template.toml").read_text(encoding="utf-8"))
    # Whether any matches is all that counts: those that begin at a word come first.
    return {
        kind: any_of(sorted(said, key=lambda each: not each.startswith(r"\b"))) for kind, said in table["does"].items()
    }


def _says(kind: str, text: str) -> bool:
    """Return whether a sentence has this function, by its words."""
    return _patterns()[kind].search(lower_case(text)) is not None


def apply_template(content: str, type_: MemoryType, circumstances: Sequence[str] = ()) -> str:
    """Return `content` in sections; unchanged if it already has them or something would be lost."""
    return templated(content, type_, circumstances).text


def templated(content: str, type_: MemoryType, circumstances: Sequence[str] = ()) -> Templated:
    """Return `content` in sections, with warnings. Never raises for any text.

    `circumstances` are the memory's known ones, each as `date:2026-03-01` or `domain:billing`; they are put under
    CONTEXT if the text itself has none.
    """
    if reason := _left_alone(content, type_):
        return Templated(content, changed=False, warnings=(reason,))
    if present := sections_in(content):
        return Templated(content, changed=False, warnings=tuple(_malformations(content, present)))
    body = _sorted(units(content), type_)
    told = {section: _joined(body[section]) for section in _SORTED}
    known = "".join(f"- {circumstance}\n" for circumstance in circumstances)
    texts = {**told, Section.CONTEXT: told[Section.CONTEXT] or known}
    if not all(texts.values()):
        return Templated(content, changed=False)
    if lost := losses(content, "\n".join(told.values())):
        return Templated(content, changed=False, warnings=(_refusal(lost),), losses=tuple(lost))
    return Templated(_written(texts, _tags(content, type_)), changed=True)


def sections_in(text: str) -> list[Section]:
    """Return the section headings of `text` in order, except those in fenced code."""
    headings = (unit.text for unit in units(text) if unit.form is Form.HEADING)
    return [Section(found[1]) for heading in headings if (found := _SECTION_LINE.fullmatch(heading))]


def _left_alone(content: str, type_: MemoryType) -> str | None:
    if not content.strip():
        return "the text is empty"
    if len(_NOISE.findall(content)) > _MOST_NOISE * len(content):
        return "not text: too many control characters"
    if type_ is MemoryType.UNKNOWN:
        return "a text of unknown type gets no sections"
    return None


def _malformations(text: str, present: Sequence[Section]) -> Iterator[str]:
    if Section.TAGS not in present:
        yield "section TAGS is missing"
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
    """Return the units of each section with their indexes in the text."""
    body: Body = {section: [] for section in _SORTED}
    fitted = list(_fitted(all_units))
    index = 0
    for one in _completed(list(_assigned(fitted, type_)), type_):
        for piece, named in _parted(one.unit) if one.is_point else [(one.unit, None)]:
            body[named or one.section].append((index, piece))
            index += 1
    return body


def _parted(unit: Unit) -> list[tuple[Unit, Section | None]]:
    """Return the unit that makes the point, with the clause of its reason split off, or whole."""
    cut = _cut(unit)
    if cut is None:
        return [(unit, None)]
    end, begin, reason_first = cut
    first, second = replace(unit, text=unit.text[:end]), Unit(Form.SENTENCE, unit.text[begin:], unit.text[end:begin])
    if reason_first:
        return [(first, Section.REASONING), (second, None)]
    return [(first, None), (second, Section.REASONING)]


def _cut(unit: Unit) -> tuple[int, int, bool] | None:
    """Return where the first of two clauses ends and the second begins, and whether the first one gives the reason."""
    sentence = unit.text
    if unit.form is Form.ITEM:
        found = _EXPLAINED.match(sentence)
        return (found.end("point"), found.end(), False) if found and _says("decided", found["point"]) else None
    if unit.form is not Form.SENTENCE or "`" in sentence or "://" in sentence:
        return None
    label = _JAPANESE_LABEL.match(sentence)
    start = label.end() if label else 0
    if found := _REASON_BEFORE.match(sentence, start):
        return (found.end("reason"), found.end(), True) if len(sentence) - found.end() >= _FEWEST_CHARS else None
    if found := _COLON.search(sentence):
        return found.start("gap"), found.end("gap"), False
    found = _REASON_BEHIND.search(sentence)
    return (found.start("gap"), found.start("reason"), False) if found and found.start() >= _FEWEST_CHARS else None


def _point(all_units: Sequence[Unit], type_: MemoryType) -> int | None:
    """Return the index of the unit with the memory's point: the first that states an action, or the first event."""
    prose = [index for index, unit in enumerate(all_units) if unit.form in (Form.SENTENCE, Form.ITEM)]
    if type_ not in _POINT_FIRST:
        return prose[0] if prose else None
    does = "rule" if type_ is MemoryType.PATTERN else "decided"
    decided = next((index for index in prose if _says(does, all_units[index].text)), None)
    if decided is not None:
        return decided
    described = (index for index in prose if not _says("situation", all_units[index].text))
    return next(described, prose[0] if prose else None)


@dataclass(frozen=True, slots=True)
class _Placed:
    """A unit with its section; whether it makes the point, and whether it is assigned by position only."""

    unit: Unit
    section: Section
    is_point: bool = False
    by_place: bool = False


def _assigned(all_units: Sequence[Unit], type_: MemoryType) -> Iterator[_Placed]:
    """Yield each unit with its section; a heading goes with its content."""
    point = None if type_ in _INDIVISIBLE else _point(all_units, type_)
    found: list[Section] = []
    headings: list[Unit] = []
    under: tuple[int, Section] | None = None
    said = ""
    for index, unit in enumerate(all_units):
        if unit.form is Form.HEADING:
            under = _opened(unit, under)
            headings.append(unit)
            continue
        section, by_place = (under[1], False) if under else _own(unit, index, point, found, type_, said)
        yield from (_Placed(heading, section) for heading in headings)
        yield _Placed(unit, section, index == point and under is None, by_place)
        found.append(section)
        headings, said = [], unit.text
    yield from (_Placed(heading, found[-1] if found else Section.CONTEXT) for heading in headings)


def _completed(placed: list[_Placed], type_: MemoryType) -> list[_Placed]:
    """Return the units with one more section filled.

    Sentences assigned by position only become the explanation of the previous text if it has none, and the last one
    becomes the outcome if that has a reason.
    """
    told = {one.section for one in placed}
    free = [at for at, one in enumerate(placed) if one.by_place and one.unit.form is Form.SENTENCE]
    if type_ in _INDIVISIBLE or not free:
        return placed
    moved: dict[int, Section] = {}
    if Section.REASONING not in told and Section.OUTCOME in told:
        outcome = next((at for at, one in enumerate(placed) if one.section is Section.OUTCOME), len(placed))
        explaining = free[:1] if type_ in _POINT_FIRST else [at for at in free if at < outcome]
        moved = dict.fromkeys(explaining, Section.REASONING)
    elif Section.OUTCOME not in told and Section.REASONING in told and free[-1] == len(placed) - 1:
        moved = {free[-1]: Section.OUTCOME}
    return [replace(one, section=moved.get(at, one.section)) for at, one in enumerate(placed)]


def _opened(heading: Unit, under: tuple[int, Section] | None) -> tuple[int, Section] | None:
    """Return the level and section of the heading that applies from here; a deeper one counts only if it names one."""
    level, named = _level(heading), _named(heading.text.strip("# \t*:：").casefold())
    if named:
        return level, named
    return under if under and level > under[0] else None


def _own(
    unit: Unit, index: int, point: int | None, found: Sequence[Section], type_: MemoryType, said: str
) -> tuple[Section, bool]:
    """Return the section of a unit, and whether it is assigned by position only; `said` is the prose before it.

    Its label decides, otherwise its function, otherwise its position.
    """
    if unit.label and (named := _named(unit.label)):
        return named, False
    before = found[-1] if found else Section.CONTEXT
    if type_ in _INDIVISIBLE or unit.form is Form.BLOCK:
        return before, False
    if type_ in _POINT_FIRST:
        return _around_the_point(unit, index, point, found, said)
    if index == point:
        return (Section.REASONING if _STATES_CAUSE.match(unit.text) else Section.CONTEXT), False
    if _AFTERWARDS.match(unit.text) or _says("settled", unit.text):
        return Section.OUTCOME, False
    does = _does(unit.text) or (Section.REASONING if _says("earlier", unit.text) else None)
    explains = before is Section.CONTEXT and _says("reason", said)
    return does or (Section.REASONING if explains else before), does is None


def _around_the_point(
    unit: Unit, index: int, point: int | None, found: Sequence[Section], said: str
) -> tuple[Section, bool]:
    """Return the section of a unit in a text about an action, and whether it is assigned by position only."""
    if index == point:
        return Section.OUTCOME, False
    does = _does(unit.text)
    if point is not None and index < point:
        return (Section.REASONING if does is Section.REASONING else Section.CONTEXT), False
    if _says("situation", unit.text):
        return Section.CONTEXT, False
    if does is None and said.endswith(";"):
        return found[-1], False
    detail = (
        unit.form is Form.ITEM or Section.REASONING in found or _patterns()["leans_back"].match(lower_case(unit.text))
    )
    return does or (Section.OUTCOME if detail else Section.REASONING), does is None


def _does(text: str) -> Section | None:
    """Return the section of a sentence by its function: result, reason or action; None if its words do not tell."""
    if _says("result", text):
        return Section.OUTCOME
    if _says("reason", text):
        return Section.REASONING
    return Section.OUTCOME if _says("action", text) or _says("decided", text) else None


def _named(name: str) -> Section | None:
    """Return the section that a heading or label names: entirely, or with its first words."""
    whole = next((section for section, names in _NAMES.items() if names.fullmatch(name)), None)
    return whole or next((section for section, names in _NAMES.items() if _BEGINS[section].match(name)), None)


def _fitted(all_units: Sequence[Unit]) -> Iterator[Unit]:
    """Yield the units, with headings below the sections' level, and a code block open at the end closed."""
    levels = [_level(unit) for unit in all_units if unit.form is Form.HEADING]
    shift = max(0, _TOP_LEVEL - min(levels, default=_TOP_LEVEL))
    for unit in _clauses(all_units):
        if unit.form is Form.HEADING:
            level = _level(unit)
            unit = replace(unit, text="#" * min(_DEEPEST, level + shift) + unit.text[level:])
        elif unit.form is not Form.SENTENCE and (fence := open_fence(unit.text)):
            unit = replace(unit, text=f"{unit.text}\n{fence}")
        yield unit


def _clauses(all_units: Sequence[Unit]) -> Iterator[Unit]:
    """Yield the units, with sentences split at a semicolon between two clauses."""
    for unit in all_units:
        cut = _SEMICOLON.search(unit.text) if unit.form is Form.SENTENCE and "`" not in unit.text else None
        if cut is None or min(cut.start(), len(unit.text) - cut.end()) < _FEWEST_CHARS:
            yield unit
            continue
        yield replace(unit, text=unit.text[: cut.start() + 1])
        yield Unit(Form.SENTENCE, unit.text[cut.end() :], unit.text[cut.start() + 1 : cut.end()])


def _level(heading: Unit) -> int:
    return len(heading.text) - len(heading.text.lstrip("#"))


def _tags(content: str, type_: MemoryType) -> list[str]:
    return [
        f"- type:{type_}",
        *(f"- component:{name}" for name in components(content)),
        *(f"- spec:{name}" for name in specs(content)),
    ]


def _written(texts: Mapping[Section, str], tags: Sequence[str]) -> str:
    sections = [f"## {section}\n{text}" for section, text in texts.items()]
    return "\n".join([*sections, f"## {Section.TAGS}\n" + "\n".join(tags) + "\n"])


def _joined(placed: Sequence[tuple[int, Unit]]) -> str:
    """Join units: neighbours keep the white space between them; others are separated."""
    pieces = []
    previous: tuple[int, Unit] | None = None
    for index, unit in placed:
        if previous is not None:
            pieces.append(unit.before if index == previous[0] + 1 else _gap(previous[1], unit))
        pieces.append(unit.text)
        previous = index, unit
    return "".join(pieces) + "\n" if pieces else ""


def _gap(before: Unit, after: Unit) -> str:
    if (
        before.form is after.form is Form.SENTENCE
        and "\n" not in after.before
        and not before.text.endswith((",", "、"))
    ):
        return after.before or " "
    return "\n" if before.form is after.form is Form.ITEM else "\n\n"
