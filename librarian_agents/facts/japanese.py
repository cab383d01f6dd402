"""Reads plain statements of a Japanese sentence, by Sudachi's parts of speech: a topic, and what is said about it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from sudachipy import Dictionary, SplitMode

from librarian_agents.facts.english import Statement

_DOUBTED = re.compile(
    r"[?？]|(?:か|かな|かしら|っけ|いくら|どこ|だれ|誰|いつ|なに|何)[。．!！ー~〜…\s]*$"
    # supposed
    r"|もし|たとえ|仮に|かりに|としたら|とすれば|場合|たら(?!しい)|なら(?!び|ない|なか|ん)|(?:れば|けば|えば"
    r"|せば|てば|めば)|だったら|ければ"
    # doubted, wished
    r"|かもしれ|かも(?:ね|です|。|$)|だろう|でしょう|らしい|みたい|はず|と思|と考え|気がする|つもり|予定"
    r"|たい(?:です|な|と|ん|けど|。|$)|ほしい|欲しい|いいな|いいね|と(?:い|よ)い|ように(?!なり)"
    r"|たぶん|多分|おそらく|恐らく|きっと|どうやら|例えば|たとえば|冗談|嘘|うそ|なんちゃって|（笑）|\(笑\)|笑$|www"
    # ordered, proposed
    r"|ください|下さい|なさい|お願い|ましょう|しよう|よう[。!！]*$|てね|頂戴|ちょうだい|いただけ|頂け|(?:しろ"
    r"|せよ|な)[!！]$|(?<=[てで])[。!！]*$"
    # reported from others
    r"|によると|によれば|そうです|そうだ(?:よ|$|。)|と(?:言|い)(?:って|う|われ)|って(?:言|聞|いう)|とのこと"
    r"|と(?:書|聞)|噂|うわさ|という(?:話|こと|わけ)|曰く"
    # of the past only
    r"|でした|だった|以前|かつて|昔は|当時"
)
_QUOTE = re.compile(r"[「『“\"]")
_SELF_WORDS = """
私 わたし わたくし あたし 僕 ぼく 俺 おれ 自分 うち 我が家 わが家 我々 私達 私たち
僕たち 僕ら 弊社 当店 当社 当院 当館 うちの店
"""
_SELF = frozenset(_SELF_WORDS.split())
_KIN = re.compile(
    r"(?:義?(?:父|母|兄|姉|弟|妹)|夫|妻|旦那|主人|嫁|家内|息子|娘|長男|次男|三男|長女|次女|三女|祖父|祖母|子供"
    r"|子ども|両親|彼氏|彼女|実家|お(?:父|母|兄|姉|じい|ばあ|爺|婆)(?:さん|ちゃん)|妹さん|弟さん|いとこ|叔[父母]|友達|友人|親友|同僚|隣人|飼い犬|飼い猫|愛犬|愛猫|上司)"
)
_ATTRIBUTE = re.compile(
    r"(?:お?名前|内線|氏名|愛称|あだ名|ご?住所|所在地|(?:電話|携帯|内線|口座|会員|部屋|代表|社員|注文|予約)?番号"
    r"|メール(?:アドレス)?|アドレス|IP(?:アドレス)?|ポート|パスワード|誕生日|生年月日|年齢|身長|体重|血液型"
    r"|出身地?|職業"
    r"|勤務先|仕事|専門|趣味|担当者?|主治医|定休日|休み|営業時間|家賃|会費|月謝|料金|値段|価格|上限|下限"
    r"|締め?切り?|期限|開店|閉店|上司|部長|社長|店長|責任者|言語|バージョン|色|大きさ|場所|会場|最寄り駅?)"
)
_NOT_TOPIC_WORDS = """
これ それ あれ ここ そこ あそこ どれ どこ どちら 何 誰 いつ 今日 明日 昨日 今 今回
今度 次 次回 前 前回 彼 彼女 あなた 君 皆 みんな 人 方 こと 事 もの 物 の 気持ち
話 問題 理由 原因 結果 感じ 以上 以下 実 最近 ところ とき 時 なか 中 あと 後
"""
_NOT_TOPIC = frozenset(_NOT_TOPIC_WORDS.split())
_NOT_OBJECT = re.compile(
    r"(?:こと|事|もの|物|ところ|の|わけ|ため|とき|(?<![\d一二三四五六七八九十])時|方|ほう|感じ|様子|状態|気分|気持ち|次第|通り|とおり|程度"
    r"|くらい|ぐらい|ばかり|だけ|本当|嘘|大丈夫|無理|駄目|だめ|ダメ|最高|最悪|残念|秘密|内緒|初めて|同じ|別|問題"
    r"|必要|大変"
    r"|今日|明日|昨日|今|後|先|前|途中|最中|これ|それ|あれ|そう|何|誰|どこ|一緒|久しぶり|楽しみ|心配|好き|嫌い"
    r"|正常|異常|まま|未定|以上|上記|下記)$"
)
_NOMINAL = frozenset({"名詞", "代名詞", "接頭辞", "接尾辞", "形状詞", "連体詞"})
_TITLES = frozenset(
    {"さん", "様", "先生", "氏", "教授", "君", "くん", "ちゃん", "部長", "課長", "社長", "医師", "制", "室"}
)
_COPULAS = frozenset({"です", "だ", "である", "でございます"})
_PAUSE = frozenset({"、", ",", "，"})


@dataclass(frozen=True, slots=True)
class _Word:
    surface: str
    base: str
    kind: str
    detail: str

    @property
    def nominal(self) -> bool:
        """Whether it may be part of a name."""
        sign = self.kind == "空白" or (self.kind == "補助記号" and self.detail == "一般")
        return (
            self.kind in _NOMINAL or sign or (self.kind == "助詞" and self.surface == "の" and self.detail == "格助詞")
        )


@dataclass(frozen=True, slots=True)
class _Verb:
    """The argument (the particles after it) that a verb takes, and the predicate it states; `lasting`: only in the form
    ている; `own`: without a topic it is about the author.
    """

    particles: Sequence[str]
    predicate: str
    lasting: bool = False
    own: bool = False
    confidence: float = 0.92


_BECOMES = _Verb(("に", "へ"), "である")
_TIMED = ("に", "から")
_CONJUNCTION = re.compile(
    r"(?:(?<=です)|(?<=ます)|(?<=した)|(?<=だ)|(?<=る)|(?<=た))(?:から|けれども?|けど|ので|し|が)(?:[、,]|(?=[^、,ねよ]{4}))"
)
_GOES_ON = re.compile(r"(?<=[てで])い(?:て|まして)、")
_TAKES_BACK = re.compile(r"という|設定|夢|かも|らしい|はず|冗談|嘘|うそ|違|間違|です[か?？]|ますか")
"""Wording of a clause that takes back the preceding one."""
_VERBS: Mapping[str, _Verb] = {
    "住む": _Verb(("に",), "住んでいる", lasting=True, own=True),
    "引っ越す": _Verb(("に", "へ"), "住んでいる", own=True),
    "引越す": _Verb(("に", "へ"), "住んでいる", own=True),
    "移転": _Verb(("に", "へ"), "所在地"),
    "使う": _Verb(("を",), "使っている", lasting=True, own=True),
    "乗り換える": _Verb(("に", "へ"), "使っている", own=True),
    "切り替える": _Verb(("に", "へ"), "使っている", own=True, confidence=0.85),
    "飲む": _Verb(("を",), "飲んでいる", lasting=True, own=True),
    "通う": _Verb(("に", "へ"), "通っている", lasting=True, own=True),
    "勤める": _Verb(("に",), "勤務先", lasting=True, own=True),
    "働く": _Verb(("で",), "勤務先", lasting=True, own=True),
    "転職": _Verb(("に", "へ"), "勤務先", own=True),
    "入社": _Verb(("に", "へ"), "勤務先", own=True),
    "買う": _Verb(("を",), "買った", own=True, confidence=0.85),
    "辞める": _Verb(("を",), "辞めた", own=True, confidence=0.85),
    "卒業": _Verb(("を",), "卒業した", own=True),
    "弾く": _Verb(("を",), "弾いている", lasting=True, own=True),
    "乗る": _Verb(("に",), "乗っている", lasting=True, confidence=0.85),
    "経営": _Verb(("を",), "経営している", lasting=True, own=True),
    "やる": _Verb(("を",), "している", lasting=True, confidence=0.85),
    "習う": _Verb(("を",), "習っている", lasting=True),
    "飼う": _Verb(("を",), "飼っている", lasting=True, own=True),
    "持つ": _Verb(("を",), "持っている", lasting=True),
    "入る": _Verb(("に",), "入っている", lasting=True),
    "仕入れる": _Verb(("から",), "仕入れ先", own=True),
    "変わる": _BECOMES,
    "変更": _BECOMES,
    "なる": _BECOMES,
    "決まる": _BECOMES,
    "始まる": _Verb(_TIMED, "始まる"),
    "終わる": _Verb(("に",), "終わる"),
    "開く": _Verb(_TIMED, "開く"),
    "閉まる": _Verb(("に",), "閉まる"),
    "走る": _Verb(_TIMED, "走る", confidence=0.85),
    "ある": _Verb(("に",), "ある"),
    "有る": _Verb(("に",), "ある"),
    "ござる": _Verb(("に",), "ある"),
    "する": _Verb(("を",), "している", lasting=True, confidence=0.85),
}
_TIME = re.compile(r"[\d一二三四五六七八九十]+(?:時|月|日)|曜|毎[朝晩日週月年]|正午")
_COUNT = re.compile(r"[\d一二三四五六七八九十百千万]+\S{0,4}$")
_OFF = re.compile(r"(.*(?:曜日?|日|月末|年末年始|祝日|週末)(?:と.*曜日?)?)(?:は|が)?(?:お|定)?休み?$")
_ALLERGY = re.compile(r"(.+?)(?:の)?アレルギー$")
_ORIGIN = re.compile(r"(.+?)(?:の)?(?:出身|生まれ)$")


@cache
def _dictionary() -> Dictionary:
    return Dictionary(dict="core")


def is_plain_japanese(sentence: str) -> bool:
    """Return whether a sentence neither asks, orders, supposes, doubts nor quotes."""
    return not (_DOUBTED.search(sentence) or _QUOTE.search(sentence))


def japanese_statements(sentence: str, author: str) -> Iterator[Statement]:
    """Yield the statements of a sentence by `author`; none if it asks, orders, doubts or reports others."""
    words = _words(_plain_part(sentence))
    topic, rest = _topic(words)
    statement = _verbal(topic, rest, author) or (_nominal(topic, rest, author) if topic else None)
    if statement is not None and _worth(statement):
        yield statement


def _plain_part(sentence: str) -> str:
    """Return the first clause of a sentence, or all of it if there is only one; nothing if it is not plain."""
    if found := _GOES_ON.search(sentence):
        head, tail = f"{sentence[: found.start()]}いる", sentence[found.end() :]
    elif found := _CONJUNCTION.search(sentence):
        head, tail = sentence[: found.start()], sentence[found.end() :]
    else:
        head, tail = sentence, ""
    return head if is_plain_japanese(head) and not _TAKES_BACK.search(tail) else ""


def _words(sentence: str) -> list[_Word]:
    """Return the words of a sentence, without final particles that only set the tone."""
    found = [
        _Word(morpheme.surface(), morpheme.dictionary_form(), *morpheme.part_of_speech()[:2])
        for morpheme in _dictionary().tokenizer().tokenize(sentence.rstrip("。．.!！♪☆〜~…w 　"), SplitMode.C)
    ]
    while found and (
        (found[-1].kind == "助詞" and found[-1].detail in ("終助詞", "準体助詞"))
        or found[-1].surface in ("の", "よ", "ね", "わ")
    ):
        found.pop()
    return found


def _topic(words: Sequence[_Word]) -> tuple[str, Sequence[_Word]]:
    """Return the topic of a sentence, empty if unnamed, and the rest of it."""
    for index, word in enumerate(words):
        spoken_of = word.surface in ("は", "も") and word.detail == "係助詞" and bool(_phrase(words[:index]))
        pronoun = word.surface in _PAUSE and index == 1 and words[0].surface in _SELF
        if spoken_of or pronoun:
            return _phrase(words[:index]), words[index + 1 :]
    for index, word in enumerate(words):
        if word.surface == "が" and word.detail == "格助詞":
            return _phrase(words[:index]), words[index + 1 :]
    return "", words


def _phrase(words: Sequence[_Word]) -> str:
    """Return the name that ends here."""
    start = len(words)
    while start and (words[start - 1].nominal or (words[start - 1].kind == "形容詞" and start < len(words))):
        start -= 1
    if start < len(words) and words[start].surface == "の":
        return ""
    return "".join(word.surface for word in words[start:])


def _verbal(topic: str, rest: Sequence[_Word], author: str) -> Statement | None:
    """Return the statement of a sentence's last verb."""
    at = next((index for index in range(len(rest) - 1, -1, -1) if _main_verb(rest, index)), None)
    if at is None:
        return _not_eaten(topic, rest, author)
    behind = rest[at + 1 :]
    verb = _VERBS[_base(rest, at)]
    lasting = any(word.base in ("いる", "てる", "おる") for word in behind)
    if any(word.base in ("ない", "ぬ", "ず", "れる", "られる", "せる") for word in behind) or (
        verb.lasting and not lasting
    ):
        return None
    if any(word.kind not in ("助動詞", "助詞", "動詞") for word in behind) or any(
        word.surface in ("が", "けど", "し") for word in behind
    ):
        return None
    object_ = _argument(rest[:at], verb)
    if not object_:
        return None
    if not topic and not verb.own:
        return None
    by_author = not topic or topic in _SELF
    predicate = "である" if verb is _BECOMES and not by_author else "立場" if verb is _BECOMES else verb.predicate
    return _statement(topic or "私", predicate, object_, author, "verb", verb.confidence)


def _main_verb(words: Sequence[_Word], index: int) -> bool:
    word = words[index]
    helper = index > 0 and words[index - 1].surface in ("て", "で") and word.base in ("いる", "おる", "ある")
    return word.kind == "動詞" and _base(words, index) in _VERBS and not helper


def _base(words: Sequence[_Word], index: int) -> str:
    """Return the dictionary form of a verb; for a noun with する the noun."""
    word = words[index]
    if (
        word.base in ("する", "致す", "いたす")
        and index
        and words[index - 1].kind == "名詞"
        and words[index - 1].base in _VERBS
    ):
        return words[index - 1].base
    return word.base


def _argument(words: Sequence[_Word], verb: _Verb) -> str:
    """Return the argument of a verb: the noun before one of its particles; for "there is" also a number."""
    if words and words[-1].base in _VERBS and words[-1].kind == "名詞":
        words = words[:-1]
    for index in range(len(words) - 1, -1, -1):
        if words[index].kind == "助詞" and words[index].surface in verb.particles:
            found = _phrase(words[:index])
            if verb.predicate == "ある" and _TIME.search(found):
                return ""
            if verb.predicate in ("始まる", "終わる", "開く", "閉まる", "走る") and not _TIME.search(found):
                return ""
            return found
    counted = _phrase(words)
    return counted if verb.predicate == "ある" and _COUNT.search(counted) else ""


def _not_eaten(topic: str, rest: Sequence[_Word], author: str) -> Statement | None:
    """Return a statement of food or drink that somebody cannot or does not take."""
    said = "".join(word.surface for word in rest)
    found = re.fullmatch(r"(.{1,12}?)[がはを](食べられ|飲め|飲み|食べ)(?:ません|ない(?:です)?)(?:んです)?", said)
    if found is None or not (topic in _SELF or _KIN.match(topic)):
        return None
    predicate = {"食べられ": "食べられない", "飲め": "飲めない", "飲み": "飲まない", "食べ": "食べない"}[found[2]]
    return _statement(topic, predicate, found[1], author, "not eaten", 0.92)


def _nominal(topic: str, rest: Sequence[_Word], author: str) -> Statement | None:
    """Return the statement that a noun makes about the topic."""
    words = list(rest)
    copula = False
    while words and (
        words[-1].base in _COPULAS
        or words[-1].base in ("ござる", "ます", "で")
        or words[-1].surface in ("な", "ん", "の", "で", "ござい", "だ")
    ):
        copula = copula or words[-1].base in _COPULAS or words[-1].base == "ござる"
        words.pop()
    said = "".join(word.surface for word in words)
    if (
        not words
        or not all(_may_name(word) for word in words)
        or (
            words[-1].kind in ("形状詞", "助詞", "形容詞")
            and not (words[-1].surface in ("から", "まで") and _TIME.search(said))
        )
    ):
        allergic = re.fullmatch(
            r"(.{1,12}?アレルギー)(?:が|は)(?:ある|あり|あるん|持っ).*", "".join(word.surface for word in rest)
        )
        return _statement(topic, "アレルギー", allergic[1], author, "allergy", 0.95) if allergic else None
    for pattern, predicate in ((_OFF, "休み"), (_ALLERGY, "アレルギー"), (_ORIGIN, "出身")):
        if found := pattern.fullmatch(said):
            return _statement(topic, predicate, found[1], author, predicate, 0.95)
    if not _certain(topic, words):
        return None
    return _statement(topic, "である", said, author, "noun", 0.92 if copula else 0.9)


def _certain(topic: str, words: Sequence[_Word]) -> bool:
    """Return whether a noun is a value: a number, a time or a name, or belongs to a topic that has one."""
    name = topic.rpartition("の")[2]
    owned = topic in _SELF or any(part.search(name) for part in (_KIN, _ATTRIBUTE))
    said = "".join(word.surface for word in words)
    named = any(word.detail in ("固有名詞", "数詞") or word.base in _TITLES for word in words)
    return named or owned or bool(_TIME.search(said) or re.search(r"[A-Za-z0-9]", said))


def _may_name(word: _Word) -> bool:
    return (
        (word.nominal and word.kind != "連体詞")
        or (word.kind == "助詞" and word.surface in ("から", "まで", "と", "や", "へ"))
        or word.surface in ("・", "-", ".", ":", "@")
    )


def _statement(topic: str, predicate: str, object_: str, author: str, form: str, confidence: float) -> Statement:
    """Return the statement with the author in place of "I", and for "B of A" with A's attribute B if B is one."""
    owner, _, name = topic.rpartition("の")
    object_ = re.sub(r"^(?:全部で|今は|相変わらず|現在|実は)", "", object_).strip("、 ")
    if predicate == "である" and owner and owner not in _NOT_TOPIC and _ATTRIBUTE.fullmatch(name):
        topic, predicate = owner, name
    by_author = topic in _SELF
    if by_author and predicate == "である":
        predicate = "立場"
    first = next((own for own in sorted(_SELF, key=len, reverse=True) if topic.startswith(f"{own}の")), None)
    if by_author:
        topic = author
    elif first is not None:
        topic = f"{author}の{topic[len(first) + 1 :]}"
    elif _KIN.fullmatch(topic):
        topic = f"{author}の{topic}"
    return Statement(topic, predicate, object_, form, confidence, by_author)


def _worth(said: Statement) -> bool:
    """Return whether subject and object are clear by themselves."""
    bare = said.subject.rpartition("の")[2]
    if said.subject in ("名前", "お名前", "愛称"):
        return False  # refers to somebody in another sentence
    fleeting = re.search(
        r"今日|きょう|明日|あした|昨日|きのう|今朝|今夜|今晩|さっき"
        r"|本日",
        said.subject + said.object,
    )
    short = len(said.object) <= 30 and len(said.subject) <= 24
    return (
        bool(said.object) and bare not in _NOT_TOPIC and not _NOT_OBJECT.search(said.object) and not fleeting and short
    )
