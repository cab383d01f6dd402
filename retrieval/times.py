"""Time spans that a text refers to, relative to a moment: dates, weekdays, months and relative words. Pure functions.

English and Japanese. A question looks back unless it says otherwise: "on Monday" is the last Monday, "in March" the
last March that has begun. A stored text is read relative to the day on which it was written.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Literal

Looking = Literal["back", "ahead", "nearest"]
"""Direction in which an unspecified weekday, or month without a year, is looked for."""


@dataclass(frozen=True, slots=True)
class Span:
    """Whole days from `first` to `last`, both included; `start` and `end` are the positions in the text."""

    first: date
    last: date
    start: int = 0
    end: int = 0

    @property
    def days(self) -> int:
        """The number of days."""
        return (self.last - self.first).days + 1

    def meets(self, other: "Span") -> bool:
        """Return whether both share a day."""
        return self.first <= other.last and other.first <= self.last


_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAYS_JA = "月火水木金土日"
_NUMBERS = {
    **{
        word: number
        for number, word in enumerate(
            ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 1
        )
    },
    "a": 1,
    "an": 1,
    "a couple of": 2,
    "couple of": 2,
    "a few": 3,
    "few": 3,
    **{character: number for number, character in enumerate("一二三四五六七八九十", 1)},
    "半": 6,
}
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925}
_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)"
)
_COUNT = (
    r"(?:\d{1,3}|a couple of|couple of|a few|few|an?|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|eleven|twelve)"
)
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_COUNT_JA = r"(?:\d{1,3}|[一二三四五六七八九十])"

Reader = Callable[[re.Match[str], date, Looking], tuple[date, date] | None]


def spans(text: str, now: date, *, looking: Looking = "back") -> list[Span]:
    """Return the spans that `text` refers to on the day `now`, in order, none inside another."""
    if _NUMERAL_JA.search(text):
        return _spans_of_numerals(text, now, looking)
    found: list[Span] = []
    covered: list[tuple[int, int]] = []
    lower = text.casefold() if len(text.casefold()) == len(text) else text.lower()
    for pattern, read in _READERS:
        for match in pattern.finditer(lower):
            if any(match.start() < end and start < match.end() for start, end in covered):
                continue
            try:
                days = read(match, now, looking)
            except (ValueError, OverflowError):
                continue
            if days is not None:
                covered.append(match.span())
                found.append(Span(*days, *match.span()))
    return sorted(found, key=lambda span: span.start)


_NUMERAL_JA = re.compile(
    r"(?<![一二三四五六七八九十百千])(?:[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])(?=[年月日時])"
)


def _spans_of_numerals(text: str, now: date, looking: Looking) -> list[Span]:
    """Return the spans of a text whose days and months are written in Chinese numerals: 六月二十三日."""
    plain, positions, at = "", [], 0
    for match in _NUMERAL_JA.finditer(text):
        digits = str(_numeral(match[0]))
        plain += text[at : match.start()] + digits
        positions += [*range(at, match.start()), *[match.start()] * len(digits)]
        at = match.end()
    plain, positions = plain + text[at:], [*positions, *range(at, len(text) + 1)]
    return [
        replace(span, start=positions[span.start], end=positions[span.end])
        for span in spans(plain, now, looking=looking)
    ]


def _numeral(written: str) -> int:
    tens, ten, ones = written.rpartition("十")
    digits = "一二三四五六七八九"
    return 10 * (digits.index(tens) + 1 if tens else len(ten)) + (digits.index(ones) + 1 if ones else 0)


def _month_number(word: str) -> int:
    return next(number for number, month in enumerate(_MONTHS, 1) if month.startswith(word[:3]))


def _count(word: str) -> int:
    return int(word) if word.isdecimal() else _NUMBERS[" ".join(word.split())]


def _whole_month(year: int, month: int) -> tuple[date, date]:
    return date(year, month, 1), date(year, month, monthrange(year, month)[1])


def _shifted(now: date, months: int) -> tuple[int, int]:
    year, month = divmod(now.year * 12 + now.month - 1 + months, 12)
    return year, month + 1


def _with_year(month: int, day: int | None, now: date, looking: Looking) -> tuple[date, date]:
    """Return a day or month without a year as the nearest to `now` in the given direction."""
    choices = []
    for year in (now.year - 1, now.year, now.year + 1):
        try:
            choices.append(_whole_month(year, month) if day is None else (date(year, month, day),) * 2)
        except ValueError:
            continue
    if looking == "back":
        past = [choice for choice in choices if choice[0] <= now]
        # A day in the coming weeks is meant as such: on 30 June few ask about 3 July of last year.
        soon = [choice for choice in choices if now < choice[0] <= now + timedelta(days=92)]
        return past[-1] if past and not (soon and (now - past[-1][1]).days > 180) else soon[0] if soon else choices[0]
    if looking == "ahead":
        return next((choice for choice in choices if choice[1] >= now), choices[-1])
    return min(choices, key=lambda choice: abs((choice[0] - now).days))


def _year_of(text: str | None) -> int | None:
    if text is None:
        return None
    year = int(text)
    return year + 2000 if year < 100 else year


def _day_month(match: re.Match[str], now: date, looking: Looking) -> tuple[date, date]:
    month, day, year = _month_number(match["month"]), int(match["day"]), _year_of(match["year"])
    return (date(year, month, day),) * 2 if year else _with_year(month, day, now, looking)


def _month_year(match: re.Match[str], now: date, looking: Looking) -> tuple[date, date]:
    month, year = _month_number(match["month"]), _year_of(match["year"])
    return _whole_month(year, month) if year else _with_year(month, None, now, looking)


def _relative_month(match: re.Match[str], now: date, _looking: Looking) -> tuple[date, date]:
    month, step = _month_number(match["month"]), match["which"]
    first, last = _with_year(month, None, now, "ahead" if step == "next" else "back")
    if step == "last" and first.year == now.year and first.month == now.month:
        first, last = _whole_month(now.year - 1, month)
    return first, last


def _iso(match: re.Match[str], _now: date, _looking: Looking) -> tuple[date, date]:
    return (date(int(match["year"]), int(match["month"]), int(match["day"])),) * 2


def _year(match: re.Match[str], _now: date, _looking: Looking) -> tuple[date, date]:
    year = int(match["year"])
    return date(year, 1, 1), date(year, 12, 31)


def _quarter(match: re.Match[str], now: date, _looking: Looking) -> tuple[date, date]:
    year = int(match["year"]) if match["year"] else now.year
    quarter = int(match["quarter"])
    return date(year, quarter * 3 - 2, 1), _whole_month(year, quarter * 3)[1]


def _week(now: date, step: int) -> tuple[date, date]:
    monday = now - timedelta(days=now.weekday()) + timedelta(weeks=step)
    return monday, monday + timedelta(days=6)


def _weekend(now: date, step: int) -> tuple[date, date]:
    monday = _week(now, step)[0]
    return monday + timedelta(days=5), monday + timedelta(days=6)


def _unit(now: date, unit: str, step: int) -> tuple[date, date]:
    """Return the whole week, weekend, month, quarter or year that lies `step` after the present one."""
    match unit:
        case "week":
            return _week(now, step)
        case "weekend":
            return _weekend(now, step)
        case "month":
            return _whole_month(*_shifted(now, step))
        case "quarter":
            year, month = _shifted(now, 3 * step)
            first = (month - 1) // 3 * 3 + 1
            return date(year, first, 1), _whole_month(year, first + 2)[1]
        case "night" | "day":
            return (now + timedelta(days=step),) * 2
        case _:
            return date(now.year + step, 1, 1), date(now.year + step, 12, 31)


_STEPS = {"last": -1, "previous": -1, "past": -1, "this": 0, "current": 0, "next": 1, "coming": 1}


def _relative_unit(match: re.Match[str], now: date, _looking: Looking) -> tuple[date, date]:
    return _unit(now, match["unit"], _STEPS[match["which"]])


def _season(match: re.Match[str], now: date, _looking: Looking) -> tuple[date, date]:
    start = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}[match["season"]]
    year = int(match["year"]) if match["year"] else now.year
    first = date(year, start, 1)
    if not match["year"] and (first > now or (match["which"] == "last" and (now - first).days < 92)):
        first = date(year - 1, start, 1)
    return first, _whole_month(*_shifted(first, 2))[1]


def _days_off(match: re.Match[str], now: date, _looking: Looking) -> tuple[date, date]:
    steps = {
        "yesterday": -1,
        "today": 0,
        "tonight": 0,
        "tomorrow": 1,
        "this morning": 0,
        "this afternoon": 0,
        "this evening": 0,
    }
    steps |= {"last night": -1, "yesterday evening": -1, "the day before yesterday": -2, "the day after tomorrow": 2}
    steps |= {
        "昨日": -1,
        "きのう": -1,
        "前日": -1,
        "昨晩": -1,
        "昨夜": -1,
        "ゆうべ": -1,
        "今日": 0,
        "本日": 0,
        "きょう": 0,
        "今朝": 0,
        "今夜": 0,
        "今晩": 0,
    }
    steps |= {
        "明日": 1,
        "あした": 1,
        "あす": 1,
        "翌日": 1,
        "明後日": 2,
        "あさって": 2,
        "一昨日": -2,
        "おととい": -2,
        "おとつい": -2,
        "しあさって": 3,
        "さきおととい": -3,
    }
    return (now + timedelta(days=steps[" ".join(match[0].split())]),) * 2


def _ago(match: re.Match[str], now: date, _looking: Looking) -> tuple[date, date]:
    """Return one day for a number of days ago; for weeks, months or years a span around it, as loose as the wording."""
    count, unit = _count(match["count"]), match["unit"]
    sign = 1 if match["way"] in ("from now", "後", "later") else -1
    if unit in ("day", "日"):
        return (now + timedelta(days=sign * count),) * 2
    if unit in ("week", "週間", "週"):
        middle = now + timedelta(weeks=sign * count)
        return middle - timedelta(days=3), middle + timedelta(days=3)
    months = sign * count * (12 if unit in ("year", "年") else 1)
    if unit in ("year", "年"):
        return date(now.year + sign * count, 1, 1), date(now.year + sign * count, 12, 31)
    first, last = _whole_month(*_shifted(now, months))
    return first, last


def _lately(match: re.Match[str], now: date, _looking: Looking) -> tuple[date, date]:
    count = _count(match["count"]) if match["count"] else 1
    days = {
        "day": 1,
        "week": 7,
        "month": 30,
        "year": 365,
        "日間": 1,
        "日": 1,
        "週間": 7,
        "か月": 30,
        "ヶ月": 30,
        "ヵ月": 30,
        "ケ月": 30,
        "カ月": 30,
        "年": 365,
        "年間": 365,
    }
    return now - timedelta(days=count * days[match["unit"]]), now


def _weekday(match: re.Match[str], now: date, looking: Looking) -> tuple[date, date]:
    wanted = _DAYS.index(match["day"])
    which = match["which"]
    if which == "next" or (which in ("this", "coming") or (which is None and looking == "ahead")):
        ahead = (wanted - now.weekday()) % 7
        return (now + timedelta(days=ahead + (7 if which == "next" and ahead == 0 else 0)),) * 2
    back = (now.weekday() - wanted) % 7
    return (now - timedelta(days=back or (7 if which == "last" else 0)),) * 2


def _weekday_ja(match: re.Match[str], now: date, looking: Looking) -> tuple[date, date]:
    wanted = _DAYS_JA.index(match["day"])
    week = match["week"]
    if week:
        return (_week(now, _STEPS_JA[week])[0] + timedelta(days=wanted),) * 2
    if looking == "ahead" or match["next"]:
        return (now + timedelta(days=(wanted - now.weekday()) % 7),) * 2
    return (now - timedelta(days=(now.weekday() - wanted) % 7),) * 2


_STEPS_JA = {"先々週": -2, "先週": -1, "今週": 0, "来週": 1, "再来週": 2}
_UNITS_JA = {
    **{word: ("week", step) for word, step in _STEPS_JA.items()},
    "先々月": ("month", -2),
    "先月": ("month", -1),
    "前月": ("month", -1),
    "今月": ("month", 0),
    "来月": ("month", 1),
    "再来月": ("month", 2),
    "一昨年": ("year", -2),
    "おととし": ("year", -2),
    "去年": ("year", -1),
    "昨年": ("year", -1),
    "今年": ("year", 0),
    "本年": ("year", 0),
    "来年": ("year", 1),
    "先週末": ("weekend", -1),
    "今週末": ("weekend", 0),
    "来週末": ("weekend", 1),
    "週末": ("weekend", 0),
    "この週末": ("weekend", 0),
}


def _unit_ja(match: re.Match[str], now: date, looking: Looking) -> tuple[date, date]:
    unit, step = _UNITS_JA[match[0]]
    if match[0] in ("週末", "この週末") and looking == "back" and now.weekday() < 5:
        step = -1
    return _unit(now, unit, step)


def _date_ja(match: re.Match[str], now: date, looking: Looking) -> tuple[date, date]:
    year = None
    if match["year"]:
        number = 1 if match["year"] == "元" else int(match["year"])
        year = _ERAS[match["era"]] + number if match["era"] else number if number > 99 else 2000 + number
    elif match["which"]:
        year = now.year + {"去年": -1, "昨年": -1, "今年": 0, "本年": 0, "来年": 1, "一昨年": -2}[match["which"]]
    month = int(match["month"])
    day = int(match["day"]) if match["day"] else None
    if year is None:
        return _with_year(month, day, now, looking)
    return _whole_month(year, month) if day is None else (date(year, month, day),) * 2


def _day_only(match: re.Match[str], now: date, looking: Looking) -> tuple[date, date] | None:
    """Return "the 14th": of this month, or of the one before or after it."""
    wanted = int(match["day"])
    if not 1 <= wanted <= 31:
        return None
    choices = []
    for step in (-1, 0, 1):
        year, month = _shifted(now, step)
        if wanted <= monthrange(year, month)[1]:
            choices.append(date(year, month, wanted))
    if looking == "back":
        return (max((day for day in choices if day <= now), default=choices[0]),) * 2
    return (min((day for day in choices if day >= now), default=choices[-1]),) * 2


_ORDINAL = r"(?:st|nd|rd|th)?"
_READERS: Sequence[tuple[re.Pattern[str], Reader]] = [
    (re.compile(pattern), read)
    for pattern, read in (
        (r"(?<!\d)(?P<year>(?:19|20)\d\d)[-/](?P<month>\d{1,2})[-/](?P<day>\d{1,2})(?!\d)", _iso),
        (
            (
                rf"(?:\b{_WEEKDAY},?\s+(?:the\s+)?)?\b(?P<day>\d{{1,2}}){_ORDINAL}(?:\s+of)?"
                rf"\s+(?P<month>{_MONTH})\b\.?,?(?:\s+(?P<year>(?:19|20)\d\d)\b)?"
            ),
            _day_month,
        ),
        (
            (
                rf"(?:\b{_WEEKDAY},?\s+)?\b(?P<month>{_MONTH})\.?\s+(?:the"
                rf"\s+)?(?P<day>\d{{1,2}}){_ORDINAL}\b(?!\s*(?:%|percent|[a-z]{{4,}}s\b))(?:,?\s+(?P<year>(?:19"
                rf"|20)\d\d)\b)?"
            ),
            _day_month,
        ),
        (rf"\b(?P<which>last|this|next)\s+(?P<month>{_MONTH})\b", _relative_month),
        (rf"\b(?P<month>{_MONTH})(?:\s+of)?,?\s+(?P<year>(?:19|20)\d\d)\b", _month_year),
        (r"\bq(?P<quarter>[1-4])(?:\s+(?:of\s+)?(?P<year>(?:19|20)\d\d))?\b", _quarter),
        (
            (
                r"\bthe day (?:before yesterday|after tomorrow)\b|\blast night\b|\byesterday evening\b"
                r"|\bthis (?:morning|afternoon|evening)\b|\b(?:yesterday|today|tonight|tomorrow)\b"
            ),
            _days_off,
        ),
        (
            (
                r"\b(?P<which>last|previous|this|current|next|coming)\s+(?P<unit>week|weekend|month|quarter"
                r"|year)\b(?!\s*['’]?s?\s+end)"
            ),
            _relative_unit,
        ),
        (
            (
                rf"\b(?:in|over|during|within|for)?\s*the\s+(?:last"
                rf"|past)\s+(?:(?P<count>{_COUNT})\s+)?(?P<unit>day|week|month|year)s?\b"
            ),
            _lately,
        ),
        (
            (
                rf"\b(?P<count>{_COUNT})\s+(?P<unit>day|week|month|year)s?\s+(?P<way>ago|earlier|back|from now"
                rf"|later)\b"
            ),
            _ago,
        ),
        (
            (
                r"\b(?:(?P<which>last|this|next)\s+|in\s+(?:the\s+)?)(?P<season>spring|summer|autumn|fall"
                r"|winter)\b(?:\s+(?:of\s+)?(?P<year>(?:19|20)\d\d))?"
            ),
            _season,
        ),
        (rf"\b(?:(?P<which>last|this|next|coming)\s+)?(?P<day>{_WEEKDAY})\b", _weekday),
        (
            r"\b(?:in|during|of|since|for|until|by|from|before|after)\s+(?P<month>(?!may\b)"
            + _MONTH
            + r"|may(?=\s*[?.,]|\s*$))\b(?P<year>)?",
            lambda match, now, looking: _with_year(_month_number(match["month"]), None, now, looking),
        ),
        (
            (
                r"(?:(?P<era>令和|平成|昭和)?(?P<year>\d{1,4}|元)年(?:の)?|(?P<which>去年|昨年|今年|本年|来年"
                r"|一昨年)の?)?(?P<month>1[0-2]|0?[1-9])月(?:の)?(?:(?P<day>\d{1,2})日)?(?!間|額|給|曜|目)"
            ),
            _date_ja,
        ),
        (
            r"(?P<month>(?<!\d)(?:1[0-2]|[1-9]))/(?P<day>(?:[12]\d|3[01]|0?[1-9]))(?!\d|/)",
            lambda match, now, looking: _with_year(int(match["month"]), int(match["day"]), now, looking),
        ),
        (
            r"(?P<era>令和|平成|昭和)(?P<year>\d{1,2}|元)年|(?<!\d)(?P<year_>(?:19|20)\d\d)年",
            lambda match, _now, _looking: _year_ja_any(match),
        ),
        (
            r"(?:(?P<week>先々週|先週|今週|来週|再来週)の?|(?P<next>次の|今度の))?(?P<day>[月火水木金土日])曜日?",
            _weekday_ja,
        ),
        (
            r"(?:先週末|今週末|来週末|この週末|週末|先々週|先週|今週|再来週|来週|先々月|先月|前月|今月|再来月|来月|一昨年|おととし|去年|昨年|今年|本年|来年)",
            _unit_ja,
        ),
        (rf"(?P<count>{_COUNT_JA})(?P<unit>日|週間|か月|ヶ月|ヵ月|ケ月|カ月|年)(?P<way>前|後)", _ago),
        (
            rf"(?:この|ここ|過去|直近の?)(?P<count>{_COUNT_JA})?(?P<unit>日間|日|週間|か月|ヶ月|ヵ月|ケ月|カ月|年間|年)",
            _lately,
        ),
        (
            r"一昨日|昨日|きのう|昨晩|昨夜|ゆうべ|今日|本日|今朝|今夜|今晩|明日|明後日|あさって|あした|おととい|おとつい|しあさって",
            _days_off,
        ),
        (r"(?<![\d.])(?P<year>(?:19|20)\d\d)(?![\d.:%-])\b", _year),
        (r"\bthe (?P<day>\d{1,2})(?:st|nd|rd|th)\b", _day_only),
        (r"(?<![\d月])(?P<day>\d{1,2})日(?!間|前|後|目|以|分|ほど|くらい|まで)", _day_only),
    )
]


def _year_ja_any(match: re.Match[str]) -> tuple[date, date]:
    if match["year_"]:
        year = int(match["year_"])
    else:
        year = _ERAS[match["era"]] + (1 if match["year"] == "元" else int(match["year"]))
    return date(year, 1, 1), date(year, 12, 31)
