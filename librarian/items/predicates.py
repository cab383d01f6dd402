"""Decides from its words whether a predicate of facts has one value at a time or many.

A wrong answer ends a fact that is still true. So only words for an attribute (an address, a price) or an exclusive
state (living somewhere) give "one"; possessions, tastes, abilities and events give "many"; the rest, such as "has" or
"is", is undecided.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

Values = Literal["one", "many"]

_ATTRIBUTE = (
    r"(?:(?:e-?mail |home |work |postal |street |ip )?address|age|birth ?day|birth ?date|(?:birth|start|end|due|release"
    r"|expiry|closing|opening|delivery|moving) (?:date|time|place)|(?:date|place|year) of birth|birthplace|blood type"
    r"|height|weight|gender|nationality|status|state|stage|phase|priority|severity|tier|rating|rank|score|grade|job"
    r"|job title|title|position|occupation|profession|employer|manager|boss|supervisor|owner|ceo|cto|cfo|president"
    r"|capital|currency|population|headquarters|location|office|room|desk|seat|floor|time ?zone|salary|wage|income"
    r"|budget|price|cost|rate|fee|rent|limit|quota|size|length|width|depth|capacity|duration|time-?out|interval|port|version"
    r"|deadline|plan|colou?r|phone|(?:phone|mobile|fax|room|account|passport|version|house|seat) number|number|e-?mail"
    r"|name|hostname|spouse|husband|wife|fianc[ée]e?|threshold|temperature|speed|count|total|balance|frequency|retention)"
)
_SOLE = (
    r"(?:current|present|default|primary|main|preferred|favou?rite|official|maximum|minimum|max|min|average|latest|next"
    r"|only|sole|legal|maiden|native)"
)
_STATE = (
    r"(?:(?:lives?|living|resides?|residing|dwells?|stays?|staying|sleeps?|sits?|parks?) (?:in|at|on|near|next to)"
    r"|(?:works?|working) (?:at|for|as|in|from)|(?:studies|studying) (?:at|in)"
    r"|goes to (?:school|university|college)(?: at| in)?"
    r"|(?:based|located|situated|headquartered|stationed|hosted|stored|kept|parked|housed|employed|scheduled|due|priced"
    r"|rated|set|limited|capped|owned|managed|led|run|headed|chaired|married|engaged|born|held)"
    r"(?: (?:in|at|on|by|to|for|as|near|under|until))?"
    r"|(?:meets?|starts?|begins?|ends?|opens?|closes?|expires?|renews?|departs?|leaves?|arrives?|happens?|takes place)"
    r" (?:on|at|by|until|every)|takes place in|reports to|weighs|measures|costs?|earns)"
)
_LEAD = r"(?:(?:has|have|is|are|was|uses|runs?|listens?|its|his|her|their|the|an?|own|now|currently|still)\b ?)*"
_ONE = re.compile(
    rf"{_LEAD}(?:{_STATE}|{_SOLE} (?:[\w-]+ ){{0,2}}[\w-]*(?:[^s\W]|ss|us|is)"
    rf"|(?:(?!(?:about|with|for|to|and|or|like)\b)[\w'-]+ ){{0,4}}{_ATTRIBUTE}(?: (?:is|of|in|at|as))?)"
)
_MANY = re.compile(
    r"(?:(?:also|another|other|some|several|multiple|both|one of|used to|previously|formerly|once|sometimes|often)\b.*"
    r"|(?:can |has |have |is |are )?(?:likes?|liking|loves?|enjoys?|dislikes?|hates?|fears?|knows?|speaks?|visits?"
    r"|owns?|mentions?|says?|buys?|wants?|plays?|collects?|includes?|contains?|supports?|follows?|reads?|watches|teaches"
    r"|attends?|attending|joins?|offers?|sells?|needs?|requires?|depends?|speaking|knowing|owning|learns?|learning|eats?"
    r"|cooks?|keeps?|writes?|makes?|grows?|practi[sc]es|participates?|contributes?|subscribes?|listens to|invests?"
    r"|believes?|admires?|recommends?|possesses|holds|travels?|travell?ed)\b.*"
    r"|uses?|works? (?:with|on)|(?:met|made|said|told|bought|sold|went|gave|wrote|took|saw|did|found|won|read|had"
    r"|got)\b.*|(?:is |are )?(?:an? )?(?:friends?|member|part|fan|parent|mother|father|child|son|daughter|sister"
    r"|brother|allergic|related|interested|good|able|known|aware|certified|fluent|skilled|afraid|fond|familiar|responsible|user"
    r"|owner of|founder|author|student of|speaker)\b.*"
    r"|(?:has |have )?(?:an? )?(?:child|kid|pet|dog|cat|friend|brother|sister|sibling|son|daughter|skill|hobby|cousin"
    r"|allergy|colleague|member|bug|issue|feature|tag|alias|subscription|account|goal|interest|language|degree|car|bike"
    r"|book|dependency|nickname)(?: of)?"
    r"|(?:worked|lived|studied|visited|moved|attended|played|talked|joined)\b.*|was (?!born).*|has been .*"
    r"|(?!(?:named|preferred|based|located|situated|headquartered|stationed|hosted|stored|parked|housed|employed|scheduled|priced"
    r"|rated|limited|capped|owned|managed|headed|chaired|married|engaged)\b)\w+ed\b(?: .*)?)"
)
_CJK_MANY = re.compile(
    "(?<!一番)(?<!最も)好き|嫌い|趣味|友人|友達|家族|子供|子ども|兄弟|姉妹|ペット|メンバー|参加|言語|資格|特技|アレルギー"
    "|持って|持つ|持ち|所有(?!者)|飼って|飼う|話す|話せ|話して|知って|知る|知人|使って|使う|使用|利用|通って|通う|学んで"
    "|習って|勉強|弾|読|食べ|飲|観て|見た|行った|行く|訪れ|訪問|買|売|経験|興味|関心|得意|苦手|出来る|できる|欲し|所属"
    "|喜欢|喜歡|爱好|会说|會說|认识|認識|拥有|擁有|知道|朋友|좋아|가지고|말하|친구"
)
_CJK_ONE = re.compile(
    "(?:現在の?|今の?)?(?:"
    "(?:に|で|へ)?(?:住(?:んで(?:いる|います|る)?|む)|居住(?:している)?|在住(?:している)?|暮ら(?:して(?:いる|います)?|す)"
    "|勤め(?:て(?:いる|います)?|る)|勤務(?:して(?:いる|います)?)?|働(?:いて(?:いる|います)?|く))"
    "|.*(?:住所|住まい|居住地|所在地|勤務先|勤め先|職場|就職先|会社名|電話|番号|メール|アドレス|誕生日|生年月日|年齢|身長"
    "|体重|性別|血液型|職業|役職|肩書き?|状態|状況|ステータス|段階|優先度|価格|値段|料金|費用|金額|単価|家賃|年収|給料"
    "|月給|予算|締め?切り?|期限|納期|開始日|終了日|時刻|日程|日時|バージョン|サイズ|容量|上限|下限|人数|台数|個数|件数"
    "|ポート|上司|社長|店長|責任者|所有者|配偶者|夫|妻|首都|本社|本部|名前|氏名|名称|国籍|出身地?|最寄り?駅|(?:一番|最も)好き(?:な.*)?"
    "|地址|电话|號碼|号码|生日|年龄|年齡|职业|職業|职位|状态|價格|价格|版本|邮箱|名字|주소|전화번호|생일|나이|직업|직장|상태|가격|버전)"
    "|住在|居住在|工作[于在]|就职于|任职于|(?:에 )?(?:살고 있다|산다|거주(?:한다)?)"
    ")(?:は|が|である|です)?"
)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def values_of(predicate: str) -> Values | None:
    """Return how many values the words of a predicate imply; None if they are ambiguous."""
    words = " ".join(re.sub(r"[_-]+", " ", unicodedata.normalize("NFKC", predicate).casefold()).split())
    multi, single = (_CJK_MANY.search, _CJK_ONE.fullmatch) if _CJK.search(words) else (_MANY.fullmatch, _ONE.fullmatch)
    if multi(words):
        return "many"
    return "one" if single(words) else None


_AMOUNT = re.compile(r"\d+(?:[.,]\d+)* ?([^\W\d_]+(?: [^\W\d_]+)?|[%€$£¥°]\w?)")
_TIME = re.compile(r"[ap]m|h|uhr|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*(?: .*)?|[年月日時].*")


def same_measure(objects: Sequence[str]) -> bool:
    """Return whether all objects are amounts in the same unit, such as "5 mg" and "10 mg"; dates and times are not."""
    units = {found[1] if (found := _AMOUNT.fullmatch(text)) else "" for text in objects}
    return len(units) == 1 and (unit := units.pop()) != "" and not _TIME.fullmatch(unit)
