"""Topical terms of a text, comparable across wordings. Pure functions.

English words lose their endings. Japanese goes through Sudachi's core dictionary: normalised forms (引越 and 引っ越し
become one), readings, and the dictionary's groups of synonyms (給料 and 賃金 are in one group; English headwords belong
to groups too, which joins the languages). Single Chinese characters are weak terms: 税金 and 税理士 share one. Japanese
names are also found by their Latin spelling: 佐藤, Sato and Satō share a term.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from jaconv import kata2alphabet
from sudachipy import Dictionary, Morpheme, SplitMode, Tokenizer

from retrieval.phrases import phrases_in, plain_form
from retrieval.sentences import stem
from retrieval.stopwords import ENGLISH
from retrieval.text import has_cjk

_CJK = "\u3005\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f"
_RUN = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+(?:['’][a-z]+)?")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_SHORTENED = re.compile(r"(?:n['’]t|['’][a-z]{1,2})$")
_LONGEST_RUN = 8_000
# Words without a topic of their own; the rest of a sentence names things, actions and properties.
_JAPANESE_STOP_WORDS = """
為る する 居る いる 有る ある 成る なる 出来る 事 物 者 時 方 所 為 訳 様 よう 其れ 其の 此れ 此の 何 何れ
何処 何時 誰 幾つ 幾ら 何故 言う 思う 見る 来る 行く 下さる 頂く 貰う 呉れる 遣る 置く 仕舞う 御座る 宜しい
さん 様 君 氏 ちゃん 達 等 人 日 年 月 回 件 分 無い 良い 教える 知る 分かる 聞く 今 又 もう まだ 全部 全て
一覧 私 僕 俺 我々 皆 自分 うち 家 どう どれ どの
"""
_JAPANESE_STOP = frozenset(_JAPANESE_STOP_WORDS.split())
_JAPANESE_GRAMMAR = frozenset({"代名詞", "数詞", "非自立可能"})
_SHORT_READING = 2
_LONG_READING = 4
_JAPANESE_KINDS = frozenset({"名詞", "動詞", "形容詞", "形状詞", "接尾辞"})
# Beyond function words: words that form questions, and verbs that go with any topic.
_ENGLISH_STOP_WORDS = """
mr mrs ms ca wo tell know say said give given get got gets getting go goes going went gone come comes make made makes
take takes took thing things anything something everything someone anyone everybody everyone one ones way kind
sort time times please need needs want wants put let each every still yet already ever never always again back
also really just like many much long often far exactly currently right happen happened happens there us our
ours
"""
_ENGLISH_STOP = frozenset(_ENGLISH_STOP_WORDS.split())
# Confidence that two words mean the same, by the kind of shared term.
SAME_GROUP = 0.8
SAME_CONCEPT = 0.6
SAME_CHARACTER = 0.3
SAME_READING = 0.9
# A Latin word that Japanese syllables spell, in Hepburn's or the usual informal way: Ohno, Satō, Junko.
_SYLLABLES = re.compile(r"(?:(?:[kgsztdnhbpmyrwfj]|[kgnhbpmr]y|ss?h|t?ch|t?ts|kk|pp|tt|ss)?[aeiou]h?|n|m(?=[bmp]))+")
_SHORTEST_SPELLING = 3
_LONG_VOWEL = re.compile(r"oh(?![aeiou])|o[ou]|uu")
PERSON = "@person"
"""Term shared by names of people: it marks them as people without making any of them equal."""
_HARDLY = 0.01
_GROUPS_A_WORD, _WORDS_A_GROUP = 2, 2


@dataclass(frozen=True, slots=True)
class Word:
    """A topical word: its key, other terms for it with their weights (0..1), and whether it is a name."""

    key: str
    others: tuple[tuple[str, float], ...] = ()
    proper: bool = False


@lru_cache(maxsize=20_000)
def words(text: str) -> tuple[Word, ...]:
    """Return the topical words of `text`, in order."""
    plain = unicodedata.normalize("NFKC", text)
    found: list[Word] = []
    runs, some_cjk = list(_RUN.finditer(plain)), has_cjk(plain)
    said = phrases_in([run[0] for run in runs])
    for number, run in enumerate(runs):
        if number in said:
            word = said[number]
            found.extend([] if word is None else [_english_word(word, proper=False)])
        elif some_cjk and has_cjk(run[0]):
            found.extend(_japanese(run[0]))
        else:
            found.extend(_english(run[0], begins=run.start() == 0))
    return tuple(found)


def _english(run: str, *, begins: bool) -> list[Word]:
    plain = _SHORTENED.sub("", run)
    lower = plain.casefold()
    if not lower or lower in ENGLISH or lower in _ENGLISH_STOP:
        return []
    return [_english_word(lower, proper=plain[0].isupper() and not begins)]


@lru_cache(maxsize=20_000)
def _english_word(lower: str, *, proper: bool) -> Word:
    key = stem(plain_form(lower))
    return Word(key, (*_grouped(key), *_spelled(lower)), proper=proper)


def _spelled(latin: str) -> list[tuple[str, float]]:
    """Return the term of a Japanese name's Latin spelling, without the length of vowels; none for other words."""
    bare = "".join(letter for letter in unicodedata.normalize("NFD", latin) if not unicodedata.combining(letter))
    if len(bare) < _SHORTEST_SPELLING or not _SYLLABLES.fullmatch(bare):
        return []
    short = _LONG_VOWEL.sub(lambda found: found[0][0], bare)
    return [(f"~{re.sub('m(?=[bmp])', 'n', short)}", SAME_READING)]


def _grouped(key: str) -> list[tuple[str, float]]:
    """Return the terms of a word's groups."""
    wide = [(f"c{number}", SAME_CONCEPT) for number in _concepts().get(key, ())]
    return wide + [(f"g{number}", SAME_GROUP) for number in _synonyms().get(key, ())]


@lru_cache(maxsize=20_000)
def _japanese(run: str) -> tuple[Word, ...]:
    """Return the words of a run of Japanese letters, and the parts of its compounds."""
    found: list[Word] = []
    for start in range(0, len(run), _LONGEST_RUN):
        for morpheme in _tokenizer().tokenize(run[start : start + _LONGEST_RUN], SplitMode.C):
            parts = morpheme.split(SplitMode.A)
            found += [word for part in (morpheme, *(parts if len(parts) > 1 else ())) for word in _japanese_word(part)]
    return tuple(found)


def _japanese_word(part: Morpheme) -> list[Word]:
    kind, normal = part.part_of_speech(), part.normalized_form()
    if kind[0] not in _JAPANESE_KINDS or kind[1] in _JAPANESE_GRAMMAR or normal in _JAPANESE_STOP:
        return []
    others = _grouped(normal)
    others += [(f"s{number}", SAME_GROUP) for number in part.synonym_group_ids()]
    others += [(f"k{character}", SAME_CHARACTER) for character in _HAN.findall(normal)]
    if len(part.reading_form()) > _SHORT_READING:
        others.append((f"r{part.reading_form()}", SAME_READING))
    if kind[2] == "人名":
        others.append((PERSON, _HARDLY))
    proper = kind[1] == "固有名詞"
    if proper:
        others += _spelled(kata2alphabet(part.reading_form()))
    return [Word(normal, tuple(others), proper=proper)]


@cache
def _tokenizer() -> Tokenizer:
    return Dictionary(dict="core").tokenizer()


def _concepts() -> Mapping[str, tuple[int, ...]]:
    """Return the groups of `concepts.txt` that a word is in, by English stem or normalised Japanese word."""
    return _groups("concepts.txt")


def _synonyms() -> Mapping[str, tuple[int, ...]]:
    """Return the narrower groups of `synonyms.txt` in the same way."""
    return _groups("synonyms.txt")


@cache
def _groups(name: str) -> Mapping[str, tuple[int, ...]]:
    groups: defaultdict[str, set[int]] = defaultdict(set)
    lines = files("retrieval").joinpath(name).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(line for line in lines if line and not line.startswith("#")):
        for word in line.split():
            groups[normalised(word) if has_cjk(word) else stem(word.casefold())].add(number)
    return {word: tuple(sorted(numbers)) for word, numbers in groups.items()}


@cache
def _members() -> Sequence[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the English and the Japanese words of each group of `concepts.txt`, as written there."""
    lines = files("retrieval").joinpath("concepts.txt").read_text(encoding="utf-8").splitlines()
    groups = [line.split() for line in lines if line and not line.startswith("#")]
    return [
        (tuple(word for word in group if not has_cjk(word)), tuple(word for word in group if has_cjk(word)))
        for group in groups
    ]


@lru_cache(maxsize=1_000)
def in_the_other_language(text: str) -> str:
    """Return the Japanese words grouped with English ones of `text` in `concepts.txt`, and English ones for Japanese,
    two per word; names and numbers in Latin letters stay. Empty if no word is found.
    """
    found: dict[str, None] = {}
    known = False
    for run in _RUN.findall(unicodedata.normalize("NFKC", text)):
        if not has_cjk(run) and has_cjk(text):
            found[run] = None
            continue
        for word in words(run):
            groups = [int(key[1:]) for key, _ in word.others if key[0] == "c" and key[1:].isdigit()]
            for group in groups[:_GROUPS_A_WORD]:
                english, japanese = _members()[group]
                found.update(dict.fromkeys((english if has_cjk(run) else japanese)[:_WORDS_A_GROUP]))
                known = True
    return " ".join(found) if known else ""


@cache
def words_by_reading() -> Mapping[str, Word]:
    """Return a word for each reading, as a term, of the Japanese words of `concepts.txt` and `synonyms.txt`.

    Short readings are left out: any question in kana would hold some.
    """
    spelled: dict[str, Word] = {}
    for written in (word for name in ("concepts.txt", "synonyms.txt") for word in _groups(name) if has_cjk(word)):
        for word in _japanese(written)[:1]:
            reading = next((key for key, _ in word.others if key[0] == "r"), "")
            if len(reading) > _LONG_READING:
                spelled.setdefault(reading, Word(reading, ((word.key, 1.0), *word.others)))
    return spelled


def synonym_groups(word: str) -> list[str]:
    """Return the terms of a word's groups of synonyms in Sudachi's dictionary, of any language."""
    morphemes = _tokenizer().tokenize(word, SplitMode.C)
    return [f"s{number}" for number in morphemes[0].synonym_group_ids()] if len(morphemes) == 1 else []


def normalised(word: str) -> str:
    """Return the dictionary's form of a Japanese word; one that the dictionary splits is returned unchanged."""
    morphemes = _tokenizer().tokenize(word, SplitMode.C)
    return morphemes[0].normalized_form() if len(morphemes) == 1 else word
