"""Words by which a text names its own type of memory. Pure.

A strong marker is where a text names its type: in the tags of its sections, as a label at its start ("Decision: …",
"TIL: …", "決定：…"), or as a URL before all else. A weak one is a common phrase of texts of the type.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from librarian_agents.sweep.markdown import label_of
from librarian_agents.sweep.memory_types import MemoryType
from librarian_agents.sweep.sections import tagged_type

MAX_CHARS = 8_000
"""Characters of a text that are read: its type shows at the start, and a pasted log has every word somewhere."""


@dataclass(frozen=True, slots=True)
class Marker:
    """One sign of `type`, quoted from the text."""

    type: MemoryType
    quote: str
    strong: bool


def _phrases(*phrases: str) -> re.Pattern[str]:
    """Latin phrases match whole words; Japanese has no blanks."""
    latin = [phrase for phrase in phrases if phrase.isascii()]
    other = [phrase for phrase in phrases if not phrase.isascii()]
    return re.compile("|".join([rf"\b(?:{'|'.join(latin)})\b", *other]), re.IGNORECASE)


_LABELS: Mapping[MemoryType, re.Pattern[str]] = {
    MemoryType.PATTERN: re.compile(
        r"(?:recurring |design |code |standard )?patterns?|conventions?|best practices?|standard approach|"
        r"house rule|how we .+|パターン|規約|慣習|慣例|定石|手順|.*の(?:進め方|決まり)|.*ときの決まり"
    ),
    MemoryType.DECISION: re.compile(
        r"(?:key |design |technical |architecture )?decisions?(?: of .+)?|decided(?: .+)?|chosen|choice|"
        r"resolution|adr-\d+|"
        r"決定(?:事項)?|採用|選定"
    ),
    MemoryType.PROBLEM: re.compile(
        r"(?:known )?(?:issues?|bugs?|problems?)|bug in .+|inc-\d+|errors?|blockers?|blocked|failed|failure|broken|"
        r"broke|incident|symptoms?|defect|regression|outage|問題(?:点)?|不具合|バグ|障害|課題|エラー|症状"
    ),
    MemoryType.INSIGHT: re.compile(
        r"til|today i learned|learn(?:ed|t|ings?)|lessons?(?: learn(?:ed|t))?|reali[sz]ed|observed|"
        r"insights?|gotchas?|takeaways?|findings?|what (?:i|we) (?:learned|noticed|saw) .+|.*taught us|"
        r"root cause of .+|interesting|turns out|学び|学んだこと|気づき|教訓|発見|知見|わかったこと"
    ),
    MemoryType.EXCEPTION: re.compile(
        r"(?:constitution |policy |rule )?exceptions?(?: to .+)?|exempt(?:ion|ed)?|overrid(?:e|den)|waivers?|"
        r"deviations?|suppress(?:ed|ion)|special case|例外|免除|特例|適用除外|逸脱"
    ),
    MemoryType.REFERENCE: re.compile(
        r"references?|refs?|see(?: also)?|where .+ (?:is|are|lie|lies|live|lives|stand|stands)|list of .+|"
        r"commands for .+|contacts? for .+|.*の場所|.*の(?:連絡先|保管先|一覧)|連絡先|docs?|documentation|links?|"
        r"url|source|resources?|useful commands?|"
        r"参照|参考(?:資料|リンク)?|リンク|資料"
    ),
}
_WEAK_LABEL = re.compile(r"note|メモ|注意")

_PHRASES: Mapping[MemoryType, re.Pattern[str]] = {
    MemoryType.PATTERN: _phrases(
        "recurring", "always (?:do|use|run|put|keep|pass|call|write|check)", "standard approach", "by convention",
        "whenever you", "every time (?:we|you)", "the usual way", "rule of thumb", "必ず", "常に", "のが決まり",
    ),
    MemoryType.DECISION: _phrases(
        "chose", "chosen", "decided", "because we", "trade-?offs?", "went with", "opted (?:for|to)", "settled on",
        "agreed (?:to|on|that)", "ruled out", "rejected", "in favou?r of", "we (?:will|are going to) (?:use|adopt)",
        "ることにした", "決めた", "採用した", "採用する", "見送",
    ),
    MemoryType.PROBLEM: _phrases(
        "fails?", "failed", "failing", "broke", "broken", "crash(?:es|ed)?", "hangs?", "does not work", "doesn't work",
        "not working", "regression", "blocked (?:by|on)", "steps to reproduce", "stack trace", "動かない", "失敗する",
        "落ちる", "できない", "おかしい",
    ),
    MemoryType.INSIGHT: _phrases(
        "reali[sz]ed", "learned", "learnt", "observed", "turns out", "turned out", "the hard way",
        "i (?:had )?never knew", "it seems that", "figured out", "surprising(?:ly)?",
        "わかった", "気づいた", "学んだ", "判明した",
    ),
    MemoryType.EXCEPTION: _phrases(
        "exempt(?:ed|ion)?", "override[sn]?", "overridden", "constitution exceptions?", "exceptions? to", "waived",
        "suppress(?:ed|es|ing)?", "intentionally", "on purpose", "deliberately", "noqa", "nolint", "spurious",
        "false positives?", "deviat(?:es|ion|ions)", "not ported", "skips?", "is allowed to",
        "だけは", "例外的", "除外",
    ),
    MemoryType.REFERENCE: _phrases(
        "documented (?:at|in)", "see https?", "docs at", "is documented", "located (?:at|in)", "can be found (?:at|in)",
        "を参照", "に記載",
    ),
}  # fmt: skip
# The specification's own marks: ConstitutionType::Exception, and `- type:Pattern` on its own line.
_CONSTITUTION = re.compile(r"(?:\bConstitutionType::|^-[ \t]*type:[ \t]*)([A-Za-z]+)\b", re.MULTILINE)
_TYPES = {str(type_).casefold(): type_ for type_ in MemoryType if type_ is not MemoryType.UNKNOWN}
_LEAD = re.compile(
    r"^(?:[\s#>*_|\-+•✅❌⚠️🔴🟡🟢🐛📝🔗]+|\d{1,3}[.)]\s|\[?\d{4}-\d\d-\d\d(?:[T ][\d:]+)?\]?[\s:：—–-]*|\[[ xX]\]\s)+"
)
_BRACKETED = re.compile(r"[\[(【「]([^\W\d][^\])】」\n]{1,30})[\])】」][:：\s]")
_BARE_LABEL = re.compile(r"(?:today i learned|til)\b", re.IGNORECASE)
_URL_FIRST = re.compile(r"<?https?://\S+")
_LINE_LABELS = 20


def markers(text: str) -> list[Marker]:
    """Return the signs of `text`: the type in its tags, its opening, labels of later lines, phrases (each once)."""
    seen = text[:MAX_CHARS]
    opening = _LEAD.sub("", seen.lstrip()[:400], count=1)
    return [*_tagged(text), *_opening(opening), *_line_labels(seen, opening), *_said(seen)]


def _tagged(text: str) -> Iterator[Marker]:
    for said in _CONSTITUTION.finditer(text[:MAX_CHARS]):
        if named := _TYPES.get(said[1].casefold()):
            yield Marker(named, said[0], strong=True)
    type_ = tagged_type(text)
    if type_ is not None and type_ is not MemoryType.UNKNOWN:
        yield Marker(type_, f"type: {type_.lower()}", strong=True)


def _opening(opening: str) -> Iterator[Marker]:
    if url := _URL_FIRST.match(opening):
        yield Marker(MemoryType.REFERENCE, url[0], strong=True)
        return
    bracketed, bare = _BRACKETED.match(opening), _BARE_LABEL.match(opening)
    label = bracketed[1].casefold() if bracketed else "til" if bare else label_of(opening)
    if label is None:
        return
    if type_ := _labelled(label):
        yield Marker(type_, label, strong=True)
    elif _WEAK_LABEL.fullmatch(label):
        yield Marker(MemoryType.INSIGHT, label, strong=False)


def _line_labels(text: str, opening: str) -> Iterator[Marker]:
    """Yield labels of lines after the first, each type once."""
    first = label_of(opening)
    labels = (label_of(_LEAD.sub("", line, count=1)) for line in text.splitlines()[:_LINE_LABELS])
    found = {type_: label for label in labels if label and label != first and (type_ := _labelled(label))}
    yield from (Marker(type_, label, strong=False) for type_, label in found.items())


def _said(text: str) -> Iterator[Marker]:
    for type_, phrases in _PHRASES.items():
        said = {found[0].casefold() for found in phrases.finditer(text)}
        yield from (Marker(type_, phrase, strong=False) for phrase in sorted(said))


def _labelled(label: str) -> MemoryType | None:
    return next((type_ for type_, names in _LABELS.items() if names.fullmatch(label)), None)
