"""Causal statements of a sentence, and their modality: "X because of Y", "can't X until Y", "XのせいでY".

A statement has two arguments, literal parts of the sentence. An argument that is only a pronoun ("this", "it") or
missing stands for the text that makes the statement. Denials, doubts, questions, corrections and fictions are not
statements; suppositions and hearsay are marked as such.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from librarian_agents.sweep.causal_terms import sentences, state, terms
from librarian_agents.sweep.causal_types import Relation
from librarian_agents.sweep.phrases import WORD_BORDER, any_of, lower_case

Argument = Literal["cause", "effect"]

_KANA = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_LEAD = re.compile(r"^(?:[\s>*•+-]|#+(?=\s)|\d{1,2}[.)]\s|\[[ xX]\]|\*\*)+")
# A clause after the cue ends here, one before it begins here.
_END = re.compile(
    r"[;:](?=\s|$)|\s[—–-]\s|,\s|\s\(|、|。|[?？]|(?<=[a-z0-9])\.(?=\s|$)"
    r"|\s(?:but|so that|which|although|though|while|whereas)\s"
)
_OPENING_END = re.compile(r",\s|、|\s(?=(?:this|that|we|it|they|I|there|nobody|everyone|everybody)\s)")
_BEGIN = re.compile(r"[;:](?=\s)|\s[—–-]\s|,\s|、|：|\s(?:but|and|that|which|says?|said)\s")


_DENIED_BEFORE = re.compile(
    r"(?:\b(?:not|never|no|cannot|neither|nor|hardly|no longer|rather than|instead of|without|nothing)|n['’]t)"
    r"\s+(?:(?:been|be|have|directly|actually|necessarily|really|just|a|the|itself|always|yet|in any way|to do with)"
    r"\s+){0,2}$",
    re.IGNORECASE,
)


_TURN = re.compile(
    r"\bbut\b|(?<!that )(?<!thought )\bit (?:was|turned out)\b|が、|けれど|実際|本当は|原因は", re.IGNORECASE
)
_UNCHANGED = re.compile(
    r"\b(?:did|do|does)(?:n['’]t| not) (?:stop|change|help|improve|go|get|drop|fall|make)\b"
    r"|\bno (?:change|difference)\b|\bnothing changed\b|\bunchanged\b|変わら(?:ない|ず|なかった)|ても、"
    r"|[てで]も(?:支障|問題|影響|困ら)",
    re.IGNORECASE,
)
_EVENTS = ("trouble", "changed")
"""Requirements of forms that report an event: neither a hindrance nor an enablement, and possibly denied."""
_CLEFT = re.compile(r"\sthat\s")
_CIRCUMSTANCES = ("with … so", "being")
"""Forms whose cause is a state: one in which a thing works makes their effect possible."""
_NOTHING = re.compile(r"\s*(?:no|nobody|nothing|none|neither)\b", re.IGNORECASE)
_SOUGHT = re.compile(
    r"\b(?:search\w*|look\w*|hunt\w*|investigat\w*|find\w*|found out|unknown|track\w*|after|determin\w+|know\w*|ask\w*"
    r"|discuss\w*)\s+(?:\w+\s+)?(?:the )?$",
    re.IGNORECASE,
)
# "…のためである。": the effect is before such words, and the text after them belongs to another sentence.
_FINAL = re.compile(r"(?:の|る)?(?:ため|せい|おかげ)(?:で、|で(?:ある|す)|だ|です|。)")
# "XのはYのためだった。": the topic is the effect, and all behind it the cause.
_TOPIC = re.compile(r"(?P<effect>[^。、：:]{3,40}?)(?:の|こと)?(?<![でにとへ])は、?(?P<cause>[^。]{3,})$")
_ENDS = re.compile(r"(?:だ(?:った)?|った|です|でした|である|もの|から)*[。！]?\s*$")
# "…を遅らせていたので。": what is held up there explains what was told before, and is not that.
_GIVES_REASON = re.compile(r"(?<=[たるい])(?:ので|ため|から)(?:だ|です|である)?[。！]?\s*$")
# A clause that ends in a conjunctive form, before the next.
_JOINED = re.compile(r"(?P<clause>[^、。:：]{4,80}(?:て|で|し|り|うえ(?:に)?))、$")
_LONGEST = 1_000
"""Characters of a sentence; longer text is not a sentence that somebody wrote."""
_ENOUGH = 1.4
"""Minimum weight of the terms of an identifiable clause."""
_POINTS = re.compile(
    r"\s*(?:(?:all |just )?(?:this|that|these|those|it|them|which|him|her|us)\b(?!\s+[a-z]{3,})"
    r"|(?:これ|それ|このこと|そのこと))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Form:
    """One way to state a relation: the head of causal_statements.toml describes the fields."""

    name: str
    relation: Relation
    behind: Argument
    opens: bool
    speaks: Literal["cause", "effect", "both"]
    weak: bool
    hint: bool
    needs: str
    japanese: bool
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Statement:
    """The statement of `sentence`, a literal part of a text: `cause` has `relation` to `effect`, according to `cue`.

    An argument without content is the text itself. `told_by` names the arguments that may be another memory. `supposed`
    marks a supposition or hearsay, `hint` a sentence whose words only hint at the relation.
    """

    form: str
    relation: Relation
    cause: str
    effect: str
    told_by: tuple[Argument, ...]
    cue: str
    sentence: str
    supposed: bool
    weak: bool
    hint: bool = False

    def argument(self, name: Argument) -> str:
        """Return the clause of the cause or of the effect."""
        return self.cause if name == "cause" else self.effect


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(files("librarian_agents.sweep").joinpath("causal_statements.toml").read_text(encoding="utf-8"))


@cache
def forms_of_statements() -> tuple[Form, ...]:
    """Return the forms of causal_statements.toml."""
    return tuple(
        Form(
            name=entry["name"],
            relation=Relation(entry.get("relation", Relation.CAUSES)),
            behind=entry["behind"],
            opens=entry.get("opens", False),
            speaks=entry["speaks"],
            weak=entry.get("weak", False),
            hint=entry.get("hint", False),
            needs=entry.get("needs", ""),
            japanese=all(_KANA.search(phrase) for phrase in entry["phrases"]),
            pattern=any_of(map(_bordered, entry["phrases"])),
        )
        for entry in _table()["form"]
    )


@cache
def _stance(kind: str) -> re.Pattern[str]:
    return re.compile("|".join(_table()["stance"][kind]), re.IGNORECASE)


def _effect_words(kind: str, text: str) -> re.Match[str] | None:
    """Return words of this kind in `text`, or of one of several kinds, in lower case."""
    lower = lower_case(text)
    return next(filter(None, (_effects(one).search(lower) for one in kind.split("|"))), None)


@cache
def _effects(kind: str) -> re.Pattern[str]:
    return any_of(map(_bordered, _table()["effects"][kind]))


def _bordered(phrase: str) -> str:
    """Return the phrase between word boundaries if it begins or ends in Latin letters."""
    if not phrase.isascii():
        return f"(?:{phrase})"
    if phrase.startswith("(?<"):
        return f"(?:{phrase})"
    opening = WORD_BORDER if phrase[0].isalnum() or phrase.startswith("(?:") else ""
    closing = WORD_BORDER if phrase[-1].isalnum() or phrase[-1] in ")?" else ""
    return f"{opening}{phrase}{closing}" if phrase.isalnum() else f"{opening}(?:{phrase}){closing}"


def statements(text: str) -> list[Statement]:
    """Return the statements of the sentences of `text`, in order."""
    found: list[Statement] = []
    before = ""
    for sentence in sentences(text):
        if len(sentence) > _LONGEST:
            continue
        plain = _LEAD.sub("", sentence)
        found.extend(_of_sentence(plain, before) or _explained(before, plain))
        before = plain
    return found


def _explained(effect: str, cause: str) -> list[Statement]:
    """Return the statement of a sentence about a failure or recovery followed by one that explains it."""
    if (cue := _effect_words("halted", effect)) and _effect_words("lack", cause):
        relation = Relation.BLOCKS if _effect_words("blocked", effect) else Relation.CAUSES
    elif (cue := _effect_words("resumed", effect)) and state(cause) > 0:
        relation = Relation.ENABLES
    else:
        return []
    if not terms(cause) or any(_stance(kind).search(f"{effect} {cause}") for kind in ("asked", "doubted", "thought")):
        return []
    supposed = any(_stance(kind).search(cause) for kind in ("supposed", "passed_on"))
    said = effect[cue.start() : cue.end()]
    return [
        Statement("explained", relation, _plain(cause), effect, ("cause",), said, cause, supposed, weak=True, hint=True)
    ]


def _of_sentence(sentence: str, before: str) -> list[Statement]:
    """Return the statements of one sentence; it may continue the sentence `before`."""
    hits = _hits(sentence)
    return [] if not hits or _stance("asked").search(sentence) else list(_stated(sentence, before, hits))


def _stated(sentence: str, before: str, hits: Sequence[tuple[Form, int, int]]) -> Iterator[Statement]:
    taken: list[tuple[int, int]] = []
    for form, start, end in hits:
        if any(start < other_end and end > other_start for other_start, other_end in taken):
            continue
        made = _statement(form, sentence, start, end, before)
        if made is not None:
            made = _without_inner(made, sentence, taken)
            taken.append((start, end))
            yield made
            yield from _joined_causes(made, sentence)


def _without_inner(made: Statement, sentence: str, taken: Sequence[tuple[int, int]]) -> Statement:
    """Return a statement with the inner effect as its cause: in "AのおかげでBなので、C" that is B."""
    begin = sentence.find(made.cause)
    inner = [end for start, end in taken if begin < start and end < begin + len(made.cause)]
    rest = _plain(sentence[max(inner) : begin + len(made.cause)]) if inner and made.cause else ""
    return replace(made, cause=rest) if terms(rest) and _KANA.search(sentence) else made


def _joined_causes(made: Statement, sentence: str) -> Iterator[Statement]:
    """Yield the statement of each clause joined with the cause: "Aが出て、Bも取られたため" states both."""
    begin = sentence.find(made.cause) if made.cause and "cause" in made.told_by else 0
    while found := _JOINED.search(sentence[:begin]):
        clause = _plain(found["clause"])
        if terms(clause):
            yield replace(made, cause=clause)
        begin = found.start("clause")


def _hits(sentence: str) -> list[tuple[Form, int, int]]:
    """Return the forms' cues in a sentence, outside identifiers: more specific ones first, then the longest."""
    lower, kana = lower_case(sentence), _KANA.search(sentence)
    hits = [
        (form, found.start(), found.end())
        for form in forms_of_statements()
        if kana or not form.japanese
        for found in form.pattern.finditer(lower)
        if "_" not in sentence[max(0, found.start() - 1) : found.end() + 1]
    ]
    return sorted(hits, key=lambda hit: (not hit[0].needs, hit[0].weak, hit[1] - hit[2], hit[1]))


def _statement(form: Form, sentence: str, start: int, end: int, before: str) -> Statement | None:
    first, second = _arguments(form, sentence, start, end)
    cause, effect = (second, first) if form.behind == "cause" else (first, second)
    topic = _TOPIC.match(sentence[:start]) if form.name == "ため" and _ENDS.match(sentence, end) else None
    if topic is not None and terms(topic["effect"]) and terms(topic["cause"]):
        return _about_topic(form, sentence, topic, sentence[start:end])
    rest = sentence.replace(cause, " ", 1) if cause else sentence
    kind, _, before_only = form.needs.partition(" ")
    if kind and not _effect_words(kind, sentence[:start] if before_only else rest):
        return None
    if not _stands(sentence, start, end, form):
        return None
    if form.name == "so then":
        cause = _plain(before)
    continues = not terms(effect) or _FINAL.match(sentence[start : end + 1]) or _GIVES_REASON.search(sentence)
    relation = _relation(form, f"{before} {rest}" if continues else rest)
    if kind == "cannot" and before and not _effect_words("halted", before):
        relation = Relation.CAUSES
    pointing = [name for name in ("cause", "effect") if not terms(cause if name == "cause" else effect)]
    told_by: list[Argument] = ["cause", "effect"] if form.speaks == "both" else [form.speaks]
    told_by = [name for name in told_by if name not in pointing]
    alone = form.speaks != "both" and pointing == [form.speaks]
    if alone and _POINTS.match(cause if form.speaks == "cause" else effect):
        told_by = ["effect" if form.speaks == "cause" else "cause"]
    if not told_by:
        return None
    supposed = any(_stance(kind).search(sentence[:start]) for kind in ("supposed", "passed_on"))
    supposed = supposed or bool(_stance("supposed").search(_tail(sentence, end)))
    return Statement(
        form.name,
        _of_circumstance(form, relation, cause),
        cause,
        effect,
        tuple(told_by),
        sentence[start:end].strip(" ,、") or form.name,
        sentence,
        supposed,
        form.weak,
        form.hint,
    )


def _of_circumstance(form: Form, relation: Relation, cause: str) -> Relation:
    """Return the relation; ENABLES in place of CAUSES if a form of circumstances says that the cause works."""
    works = form.name in _CIRCUMSTANCES and relation is Relation.CAUSES and state(cause) > 0
    return Relation.ENABLES if works else relation


def _about_topic(form: Form, sentence: str, topic: re.Match[str], cue: str) -> Statement | None:
    """Return the statement of a sentence that explains its topic, if it is asserted."""
    if any(_stance(kind).search(sentence) for kind in ("asked", "doubted", "thought")):
        return None
    supposed = any(_stance(kind).search(sentence) for kind in ("supposed", "passed_on"))
    cause, effect = _plain(topic["cause"]), _plain(topic["effect"])
    return Statement(
        "topic", form.relation, cause, effect, ("cause", "effect"), cue.strip(" 、"), sentence, supposed, form.weak
    )


def _tail(sentence: str, end: int) -> str:
    """Return the ending of a Japanese sentence, if it marks a supposition; nothing for English."""
    return sentence[max(end, len(sentence) - 16) :] if _KANA.search(sentence) else ""


def _arguments(form: Form, sentence: str, start: int, end: int) -> tuple[str, str]:
    """Return the clauses before and after the cue, in this order; swapped for an opening form."""
    head, tail = sentence[:start], sentence[end:]
    if form.name == "it is … that" and (cut := _CLEFT.search(tail)):
        return _plain(_first(tail[cut.end() :])), _plain(tail[: cut.start()])
    if form.opens and not terms(head.rpartition(",")[2].rpartition(";")[2].rpartition(":")[2]):
        cut = _OPENING_END.search(tail)
        inner, outer = (tail[: cut.start()], tail[cut.end() :]) if cut else (_first(tail), "")
        return (outer.strip(), _plain(inner)) if form.behind == "cause" else (_plain(inner), outer.strip())
    return _plain(_last(head)), _plain(_first(tail))


def _first(tail: str) -> str:
    if points := _POINTS.match(tail):
        return points[0]
    cut = _END.search(tail)
    while cut and not terms(tail[: cut.start()]):
        cut = _END.search(tail, cut.end())
    return tail[: cut.start()] if cut else tail


def _last(head: str) -> str:
    """Return the last clause of `head`: back to a mark followed by enough text to identify its meaning."""
    for cut in reversed(list(_BEGIN.finditer(head))):
        if sum(terms(head[cut.end() :]).values()) >= _ENOUGH:
            return head[cut.end() :]
    return head if not _BEGIN.search(head) or terms(head) else ""


def _plain(clause: str) -> str:
    return _stance("compared").sub(" ", clause).strip(" \t,;:.、。「」\"'")


def _relation(form: Form, effect: str) -> Relation:
    """Return the form's relation; for a plain cause, the one that the words of its effect indicate."""
    if form.relation is not Relation.CAUSES or form.needs == "trouble":
        return form.relation
    if form.needs == "changed":
        return Relation.ENABLES if _effect_words("possible", effect) else Relation.CAUSES
    if form.behind == "cause" or form.speaks == "cause" or form.name == "arrow":
        if _effect_words("blocked", effect):
            return Relation.BLOCKS
        if _effect_words("possible", effect):
            return Relation.ENABLES
    return Relation.CAUSES


def _stands(sentence: str, start: int, end: int, form: Form) -> bool:
    """Return whether the sentence makes the statement of its cue, and does not deny, doubt, imagine or correct it."""
    before, behind = sentence[:start], sentence[end:]
    hindrance = form.relation is Relation.BLOCKS
    if hindrance and _GIVES_REASON.search(behind):
        return False
    if _DENIED_BEFORE.search(before) and not (hindrance and form.needs):
        return False
    if form.behind == "effect" and _NOTHING.match(behind):
        return False
    if form.needs == "changed" and _UNCHANGED.search(sentence):
        return False
    if _stance("denied_behind").search(behind) and not hindrance and form.needs not in _EVENTS:
        return False
    if _stance("doubted").search(before) or (_KANA.search(sentence) and _stance("doubted").search(behind)):
        return False
    if form.speaks == "effect" and _SOUGHT.search(before):
        return False
    if _stance("imagined").search(before) and not hindrance:
        return False
    thought = _stance("thought").search(sentence)
    if thought is None or form.name == "it was":
        return True
    turn = _TURN.search(sentence, thought.end())
    return turn is not None and start >= turn.start()
