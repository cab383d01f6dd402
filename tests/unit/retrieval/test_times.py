"""Spans of time that a text means."""

from datetime import date

import pytest

from retrieval.times import spans

NOW = date(2026, 6, 30)  # a Tuesday


def meant(text, **how):
    return [(span.first.isoformat(), span.last.isoformat()) for span in spans(text, NOW, **how)]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("What happened on 8 March 2026?", "2026-03-08", "2026-03-08"),
        ("the trip on Saturday 16 August 2025", "2025-08-16", "2025-08-16"),
        ("March 8th, 2026", "2026-03-08", "2026-03-08"),
        ("released 2026-02-01", "2026-02-01", "2026-02-01"),
        ("the outage of 13 February", "2026-02-13", "2026-02-13"),
        ("in April 2026", "2026-04-01", "2026-04-30"),
        ("What broke yesterday?", "2026-06-29", "2026-06-29"),
        ("who came last week?", "2026-06-22", "2026-06-28"),
        ("where were we last weekend?", "2026-06-27", "2026-06-28"),
        ("new clients last month", "2026-05-01", "2026-05-31"),
        ("two weeks ago", "2026-06-13", "2026-06-19"),
        ("three days ago", "2026-06-27", "2026-06-27"),
        ("on Monday", "2026-06-29", "2026-06-29"),
        ("in the last two weeks", "2026-06-16", "2026-06-30"),
        ("Q1 2026", "2026-01-01", "2026-03-31"),
        ("2026年4月9日の予定は？", "2026-04-09", "2026-04-09"),
        ("六月二十三日の断水", "2026-06-23", "2026-06-23"),
        ("五月十日から", "2026-05-10", "2026-05-10"),
        ("令和8年2月12日の取締役会", "2026-02-12", "2026-02-12"),
        ("先週、訪問したお客様", "2026-06-22", "2026-06-28"),
        ("先月入社したのは誰", "2026-05-01", "2026-05-31"),
        ("昨日の障害", "2026-06-29", "2026-06-29"),
        ("先週の金曜日", "2026-06-26", "2026-06-26"),
        ("3日前", "2026-06-27", "2026-06-27"),
        ("去年の売り上げ", "2025-01-01", "2025-12-31"),
    ],
)
def test_a_span_is_read(text, first, last):
    assert meant(text) == [(first, last)]


@pytest.mark.parametrize(
    "text", ["a fee of 4,800 yen", "月額4,800円", "who may see it?", "version 4.12.0", "step 7 of 10"]
)
def test_what_only_looks_like_a_time_is_none(text):
    assert meant(text) == []


def test_a_stored_text_may_look_ahead():
    assert meant("the day after tomorrow at six", looking="nearest") == [("2026-07-02", "2026-07-02")]
    assert meant("明後日の14時から", looking="nearest") == [("2026-07-02", "2026-07-02")]
