"""Wording cues in English and Japanese for a text's part in a conversation: it asks, admits that nobody knows, gives
orders to its reader, denies, reports a change; and the kind of thing a question wants. Patterns only.
"""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum


class Wanted(StrEnum):
    """The kind of thing that a question asks for."""

    PERSON = "person"
    DATE = "date"
    TIME = "time"
    PLACE = "place"
    AMOUNT = "amount"
    DURATION = "duration"
    MONEY = "money"
    REASON = "reason"
    WAY = "way"
    YES_NO = "yes-no"
    THING = "thing"


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


ASKS_FOR: Sequence[tuple[Wanted, re.Pattern[str]]] = (
    (
        Wanted.REASON,
        _any(
            r"\bwhy\b|\bhow come\b|\b(?:reason|causes?d?)\b|\bwhat (?:made|led|kept)\b",
            "なぜ|何故|なんで|どうして|理由|原因|きっかけ",
        ),
    ),
    (Wanted.TIME, _any(r"\b(?:what|which) time\b|\bwhen exactly\b", "何時")),
    (
        Wanted.DATE,
        _any(
            r"\bwhen\b(?=.*\?|$|\s+(?:is|was|are|were|do|did|does|will|can|should|has|have))",
            r"\b(?:what|which) (?:date|day|month|year|week|weekdays?)\b|\bhow soon\b|\bdeadline\b",
            "いつ|何日|何月|何年|何曜|締め?切り|期限|締め日",
        ),
    ),
    (
        Wanted.DURATION,
        _any(
            r"\bhow long\b(?! ago)|\bhow many (?:seconds|minutes|hours|days|nights|weeks|months|years)\b",
            "何(?:秒|分|時間|日間|週間|か月|ヶ月|年間)|ど[のれ](?:くらい|ぐらい)の?(?:時間|期間|間)",
        ),
    ),
    (
        Wanted.MONEY,
        _any(
            r"\bhow much (?:money|do we pay|does .* cost|did .* cost|is the|are the)\b|\bwhat does .* cost\b",
            r"\b(?:price|cost|fee|fare|rent|salary|budget)s?\b",
            "いくら|値段|料金|金額|費用|価格|家賃|会費|予算|給料",
        ),
    ),
    (
        Wanted.AMOUNT,
        _any(
            r"\bhow (?:much|many|long|often|far|big|large|old|thick|high|tall|heavy|hot|strong|fast|deep"
            r"|wide|late|early)\b",
            r"\bwhat (?:percentage|share|amount|size|version|number|port|price|temperature|dose)\b"
            r"|\bwhat does .* cost\b",
            "いくら|いくつ|ど[のれ](?:くらい|ぐらい)|値段|料金|金額|費用|番号|人数",
            "何(?:人|個|件|回|円|本|枚|パーセント|%|割|度|歳|分|時間|日間|週間|か月|ヶ月|年間|キロ|名|冊|台|脚|番)",
        ),
    ),
    (
        Wanted.PERSON,
        _any(
            r"\bwho(?:m|se)?\b|\bwhich (?:person|doctor|colleague|lawyer|teacher|nurse|supplier|student"
            r"|customer)s?\b",
            r"\bname of the\b",
            "誰|だれ|どなた|どの(?:人|先生|方|社員|学生)|担当者?は",
        ),
    ),
    (
        Wanted.PLACE,
        _any(
            r"\bwhere\b|\baddress\b|\b(?:which|what) (?:room|place|city|town|file|folder|path|directory"
            r"|building)\b",
            "どこ|何処|場所|住所|所在地|会場",
        ),
    ),
    (
        Wanted.WAY,
        _any(
            r"\bhow (?:do|does|can|could|should|to|would|must|did)\b|\bsteps? to\b",
            "どうやって|どのように|やり方|方法|手順|仕方|どうすれば|どうしたら",
        ),
    ),
    (
        Wanted.YES_NO,
        _any(
            r"^\s*(?:is|are|was|were|do|does|did|can|could|may|might|should|must|will|would|has|have|had|am)\b",
            r"^[^何誰いどな]*(?:ますか|ですか|でしょうか|ましたか|ないか)[？?。]?\s*$",
        ),
    ),
)

ASKS_FOR_ALL = _any(
    r"\b(?:all|every|each)\b(?! (?:day|week|month|quarter|year|night|morning|evening|hour|at once|right)s?\b)",
    r"\blist\b|\b(?:things|ideas)\b|\bwho (?:all|else)\b|\bso far\b",
    r"\b(?:which|what) (?:\w+ ){0,2}(?!does\b|was\b|has\b|this\b|its\b)"
    r"(?:\w{2,}(?<![sui])s|children|people|men|women) (?:of .{1,40} )?"
    r"(?:are|were|is|does|has|do|did|have|had|can|could|may|might|must|should|shall|will|would|became|agreed|need)\b",
    "全部|全て|すべて|一覧|みんな|リスト|それぞれ|ぜんぶ|人たち|ものは",
)
NAMES_A_KIND = _any(
    r"\b(?:all|every|each|which|what)\s+(?:of\s+)?(?:(?:the|our|my|your|his|her|their|those)\s+)?(?:\w+\s+){0,2}?"
    r"(?P<english>\w{3,})\s+(?:that|who|which|with|without|have|has|had|are|is|were|was|do|does|did|can|cannot|could|may|must"
    r"|should|will|would|need|became|agreed|got|made|looks?|i|we|you|they)\b",
    r"(?P<japanese>[\u30a0-\u30ff\u4e00-\u9fff]{1,8})(?:を|は|の)?(?:全部|全て|すべて|ぜんぶ|一覧|リスト)",
)
"""A question about things of a kind ("which doctors are away"): an answer names one, and need not say the kind."""

ASKS_OF_THE_PAST = _any(
    r"\b(?:used to|previous(?:ly)?|former(?:ly)?|original(?:ly)?|initially|at first|before that|back then"
    r"|in the past)\b",
    r"\b(?:(?<!how )(?<!days )(?<!weeks )(?<!months )(?<!years )(?<!year-)(?<!day-)old|earlier|history)\b",
    "以前|前は|前の|昔|元々|もともと|かつて|当時|最初|旧|これまで|経緯|履歴|従来",
)
DENIES = _any(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|against|except|unable|must not"
    r"|banned)\b|\w+n['’]t\b",
    r"\b(?:refuse[ds]?|reject(?:ed|s)?|forbid|forbidden|avoid|decline[ds]?|miss(?:es|ed)?|regrets?|drop(?:ped)?)\b",
    r"\b(?:cancel(?:led|ed)?|lack(?:s|ed)?|instead of|rather than|free (?:of|from)|ruled? out|gets? along without)\b",
    "ない|ません|ず(?:に|、)|なし|禁止|不可|避け|見送|欠席|断|やめ|除|以外|無理|不参加|苦手|休み",
)
"""A negative statement."""

TELLS_OF_CHANGE = _any(
    r"\b(?:from now on|as of|from \w+ on|starting|instead|no longer|any ?more|now|new|changed?|mov(?:es?|ed|ing)"
    r"|switch(?:ed)?)\b",
    r"\b(?:replaced?|update[ds]?|correction|since|ended|cancell?ed|stopped|resumed|rais(?:es?|ed)|lower(?:s|ed))\b",
    "今後|これから|(?:[月日曜週年回期度朝晩夜春夏秋冬末]|明け)から|変更|変わ|変え|替え|替わ|改定|改訂|になりました|になります|ことにな|新しい|切り替え|訂正|やめ|に移|終わ|終了|中止|廃止|再開|戻(?:り|っ)",
)

KNOWS_NOT = _any(
    r"\bno (?:idea|clue|record|trace|information|note|mention)\b|\bunknown\b|\bsame question\b|\bgood question\b",
    r"\b(?:do|does|did)(?: not|n['’]t) (?:know|remember|recall|have (?:that|it|any|a record|anything)|find)\b",
    r"\b(?:can['’]t|can ?not|could(?: not|n['’]t)) (?:find|say|tell|remember|recall|help|answer"
    r"|see (?:that|it|any))\b",
    r"\bnever (?:heard back|got an answer|found out)\b|\b(?:no|without an) answer (?:yet|so far|to that)\b"
    r"|\bstill open\b",
    r"\bnot (?:on file|on record|sure|certain|known|noted|in (?:my|our|the) (?:notes|records|files)|aware)\b",
    r"\bnobody (?:here )?(?:knows|could|remembers|has)\b|\bno one (?:knows|seems)\b|\b(?:me neither|nor do i)\b",
    r"\b(?:would|['’]d) (?:also )?(?:like|love) to know\b|\b(?:wondering|wonder)\b",
    r"\b(?:does|do|has) any(?:one|body)\b|\bany(?:one|body) (?:know|knows|got|have)\b",
    r"\blet me (?:check|look|ask|find out)\b|\b(?:i|we)(?:['’]d| would|['’]ll)? (?:have to"
    r"|need to) (?:check|look|ask)\b",
    r"\bnothing (?:is |was )?(?:on|about|in|stored|recorded|saved|noted|written)\b|\bi (?:have|found) nothing\b",
    r"\bhaven['’]t (?:found|seen|got|heard|a clue)\b|\bask (?:him|her|them|someone|\w+) instead\b",
    r"\b(?:could|can|would) you (?:ask|check|repeat|tell)\b|\b(?:still )?waiting for an answer\b"
    r"|\bsearching my memory\b|\b(?:am|are|is|['’](?:m|re)) looking(?: into (?:it|this|that))?(?=[.!]|$)",
    r"\byou (?:want|wanted|would like|asked) (?:to know|me|about|where|when|who|what|how|why|which)\b",
    "(?:分か|わか|判)り(?:ません|かねます)|(?:分か|わか)らない|知りません|知らない(?:です|んです)?|存じ(?:ません|上げません)",
    "知りたい|不明です|記録(?:が|は|には?|にも)(?:ありません|ない|見当たり|見つかり|残って)|見つかりません|見当たりません",
    "覚えて(?:い)?(?:ません|ない)|思い出せ|確認して(?:み)?(?:てください|ます)|(?:聞|訊)いてみ|気になって(?:い)?(?:ます|た)",
    "誰か知って|どなたか|教えてほしい|(?:登録|保存|メモ)(?:されて)?(?:い)?(?:ません|ない)|お答えできません|手元にありません",
    "(?:情報|資料|データ)(?:が|は)(?:ありません|ない)|調べて(?:おきます|みます)|ご質問ですね",
    "ですね、(?:すみません|申し訳|ちょっと)",
)
"""The speaker does not know, or would also like to know."""

PROPOSES = _any(
    r"\b(?:what|how) about\b|\bwhy (?:not|don['’]t we)\b|\bshall we\b|^could (?:we|it|they|the \w+)\b",
    r"\b(?:asked|wants?|wish(?:es)?)\b.{0,20}\bcould\b|[:,] could (?:we|it|they|the \w+)\b",
    r"(?:なんて|のは)(?:どう|いかが)(?:です|でしょう|かな|？|\?|$)|しましょうか|(?<!り)ませんか",
)
"""A question that proposes or wishes for something."""

COMMANDS = _any(
    r"\b(?:ignore|disregard|forget|override|bypass|drop)\b.{0,30}\b(?:previous|prior|earlier|above|all"
    r"|your|any|other|former)\b"
    r".{0,30}\b(?:instruction|rule|guidance|guideline|prompt|order|direction|memor|told|know|context|polic|thing)",
    r"\b(?:ignore|disregard|forget) (?:all|everything|anything)?\s*(?:of )?(?:the |that )?(?:above|before"
    r"|previous|earlier)\b",
    r"\b(?:AI|LLM) ?(?:agents?|assistants?|models?|systems?)\s*[:,]|\bforget what you\b|\bignore your\b"
    r"|\b(?:new|following) instructions?\b|\byou are now\b|\bjailbreak\b",
    r"\b(?:system|developer|admin(?:istrator)?) (?:note|prompt|message|override|instruction|notice|command)",
    r"(?:^|[\"“'>\[(:\n]\s*)(?:system|assistant)\s*[:,]|</?(?:context|system|memory|memories|instructions?"
    r"|user|data|s)>",
    r"\[/?(?:inst|system)\]",
    r"\b(?:ai|language|chat) ?(?:assistants?|models?|agents?|systems?|bots?)\b.{0,40}"
    r"\b(?:reading|must|should|who reads|that reads?|to answer|process|shall|are to|has to)",
    r"\bto (?:the|any|whichever|every|all) (?:ai|assistant|llm|language model|model|bot|agent)s?\b",
    r"\b(?:reply|respond|answer)\s+(?:only|exactly|solely|every|all|always|with the words|that|with[: ])",
    r"\b(?:instructions?|orders?|rules?|prompts?)\b.{0,20}\b(?:are|is) (?:now )?(?:void|invalid|cancelled|revoked)\b",
    r"\bstop (?:being|following)\b|\bprint (?:the|your|all|where)\b.{0,40}\b(?:key|password|secret|prompt"
    r"|variables|token)",
    r"(?:以前|これまで|上記|前|今まで|すべて|全て|他|過去)の?(?:の)?(?:指示|命令|ルール|規則|設定|内容|メモ|記憶)"
    r".{0,12}(?:無視|無効|忘れ|捨て|破棄|取り消)",
    "(?:指示|命令|ルール)(?:を|は)?(?:すべて|全て|全部)?.{0,6}(?:無視|忘れ|捨て|無効)",
    "(?:AI|ＡＩ|人工知能|アシスタント|言語モデル|チャットボット|ボット)"
    "(?:へ|の皆|に告ぐ|への(?:指示|命令|連絡)|は(?:必ず|以下|次)|宛)",
    "システム(?:から)?の?(?:命令|指示|通知|メッセージ|プロンプト)|システム[:：]",
    "(?:と|を)(?:聞|尋ね|質問|問わ)(?:かれ|れ|され)?たら.{0,20}(?:と|必ず)|必ず.{0,30}(?:と答え|と回答|案内し|と返)",
    "(?:と|のみ|だけ)(?:答え|回答|返答|返信)(?:よ|なさい|しなさい|せよ|しろ|ること|てください|すること)",
)
"""Orders to whoever answers: one is enough."""

HINTS_AT_COMMANDS = _any(
    r"\bwhen(?:ever)? (?:anyone|someone|anybody|somebody|she|he|they|the \w+)\b.{0,20}\basks?\b"
    r"|\bassistants?\b|\bAI\b",
    r"\b(?:anyone|somebody|someone|anybody) (?:who )?asks?\b|\bif (?:you are |you['’]re )?asked\b",
    r"\bdo not (?:tell|reveal|mention|say|inform|quote)\b|\bsay (?:only|that|nothing)\b|\.example\b",
    r"\b(?:send|enter|type|paste|transfer|click|visit|email|wire|call) .{0,60}(?:https?:|password|pin\b"
    r"|card|account)",
    r"\b(?:you must|must (?:now )?(?:say|answer|reply|tell))\b|\balways (?:say|answer|reply|tell|recommend)\b",
    "聞かれたら|尋ねられたら|質問されたら|案内(?:してください|すること|せよ)|答え(?:てください|なさい|よ|ること)",
    "(?:この|以下の)(?:文章|文|メモ|メッセージ)を読む|アシスタント|口座番号を|暗証番号を(?:送|入力)|誰にも(?:言|話)",
)
"""Parts of orders that honest texts also have: two of them are suspicious."""

_NAMES = (
    r"(?<![.!?]\s)(?<!^)\b[A-Z][a-z]+(?:\s[A-Z][a-z]+)*|(?:Mr|Mrs|Ms|Dr|Miss|Prof)\.?\s+[A-Z]\w+|\bI\b|\bmy\b"
    r"|[\u4e00-\u9fff]{1,4}(?:さん|様|先生|氏|くん|君|ちゃん|部長|課長|主任|教授|社長)"
)
_ROLES = (
    r"\b(?:manager|boss|leader|head|chair(?:man|woman|person)?|treasurer|secretary|caretaker|janitor|doctor|nurse|teacher"
    r"|lawyer|judge|driver|cook|chef|neighbou?r|mother|father|mum|dad|sister|brother|aunt|uncle|wife|husband|accountant"
    r"|director|owner|plumber|electrician|mechanic|colleague|assistant|coach|captain|everyone|everybody|nobody"
    r"|me|he|she|us)\b"
    r"|(?:父|母|兄|姉|弟|妹|祖父|祖母|叔父|叔母|夫|妻|店長|会長|園長|校長|所長|院長|理事長|班長|係|担当|幹事|会計|書記|大家"
    r"|管理人|弁護士|税理士|医師|看護師|栄養士|薬剤師|運転手|業者|私|僕|俺)(?:が|は|の|に|を|へ|から|まで|、|。)"
)
HOLDS: Mapping[Wanted, re.Pattern[str]] = {
    Wanted.REASON: _any(
        r"\b(?:because|since|due to|owing to|so that|as a result|therefore|that['’]s why|this is why"
        r"|in order to)\b",
        r"\b(?:the reason|turned out|caused?|led to|thanks to|on account of|otherwise|got it|culprit|fault"
        r"|blame)\b",
        r"\b(?:so (?:we|i|the|it|they|he|she)|which (?:made|meant|is why)|would (?:be|have|take|cost))\b",
        "ため|ので|から(?:です|だ|、|。)|原因|理由|せい|によって|により|おかげ|だったら|ことから|結果",
    ),
    Wanted.WAY: _any(
        r"\b(?:first|then|next|after that|finally|step|run|press|turn|open|upload|replace|restart|click"
        r"|go to|put|use)\b",
        r"\b(?:call|ask|type|wait|hold|add|set|pull|push|fill|send|write|shut)\b",
        "まず|次に|てから|てください|手順|すると|押|開|入れ|たあと|た後",
    ),
    Wanted.PLACE: _any(
        r"\b(?:in|at|on|under|behind|next to|above|below|inside|near|beside|between|opposite) [\w'’-]+"
        r"|(?:[\w.-]+/)+[\w.-]+",
        r"\b(?:street|road|avenue|room|floor|building|drawer|shelf|cupboard|house|lives?|located|kept)\b",
        r"\bmov(?:es?|ed|ing) to [\w’-]+",
        "に(?:あ|置|保管|入|住|移|掛|しま|格納)|で(?:行|受け|開|会|集ま|待)",
        "(?:都|道|府|県|市|区|町|村|階|号室|室|駅|館|棟|丁目|通り|院|園|校|店|会場|ホール|棚|引き出し|倉庫|場)",
    ),
    Wanted.AMOUNT: _any(
        r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty"
        r"|hundred)\b",
        r"\b(?:thousand|million|half|twice|once|dozen|free|double|quarter)\b|無料|毎(?:日|週|月|年)",
        "[一二三四五六七八九十百千万半](?:人|個|件|回|円|本|枚|割|度|歳|分|時|日|週|か月|ヶ月|年|名|冊|台|脚|つ|倍|階|番|匹|杯|袋|箱)",
    ),
    Wanted.DURATION: _any(
        r"\b(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|forty|half an?)[ -]"
        r"(?:more |full |long |and a half )?(?:seconds?|minutes?|mins?|hours?|days?|nights?|weeks?|months?|years?)\b",
        r"\b(?:overnight|all day|until|since)\b|[\d一二三四五六七八九十百半]+(?:秒|分|時間|日間|日|週間|か月|ヶ月|年)",
    ),
    Wanted.MONEY: _any(
        r"[$€£¥]\s?\d|\b\d[\d,.]*\s*(?:k\b|euros?|dollars?|pounds?|yen|cents?|eur|usd|gbp|jpy|bucks)|\bfree\b",
        r"\b(?:euros?|dollars?|pounds?|yen|percent)\b|円|無料|万|ドル|ユーロ",
    ),
    Wanted.TIME: _any(
        r"\b\d{1,2}[:.]\d\d\b|\b\d{1,2}\s*(?:am|pm|a\.m\.|p\.m\.|o['’]clock)\b|\b(?:noon|midnight|half past)\b",
        r"\b(?:quarter|twenty|ten|five) (?:to|past)\b|\d{1,2}時|正午|午前|午後",
    ),
    Wanted.DATE: _any(
        r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:tomorrow|today|weekly|monthly|weekdays?"
        r"|week|month)\b",
        r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|(?:19"
        r"|20)\d\d)\b",
        r"\d{1,2}月|\d{1,2}日|[月火水木金土日]曜|毎[週月年日]|[来今先][週月年]|月末|年末|明日|明後日|\d{4}-\d\d-\d\d",
    ),
    Wanted.PERSON: re.compile(f"{_NAMES}|{_ROLES}"),
}
"""The content that an answer has, by the kind of thing asked for."""
