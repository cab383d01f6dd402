"""The output of searches about a hit."""

from librarian.cli.search import show_context, show_hits, show_relevant
from librarian.search.contracts import Cause, ContextOutput, Hit, MemoryHit, RelevantOutput, SearchOutput

CAUSE = Cause(uid="root", kind="memory", type="CAUSES", text="The chart lost two lines. " * 8, confidence=1.0)
LED_BY = "led to by root: The chart lost two lines."
OK = {"vector": "ok", "keyword": "ok"}


def test_a_hit_says_what_led_to_it(capsys):
    """On lines of their own below its text, the cause's text cut short; searches and relevant memory alike."""
    hit = Hit(uid="m", kind="memory", score=0.9, similarity_score=0.8, content="Pods were red.", led_by=[CAUSE])
    told = MemoryHit(uid="m", kind="memory", score=0.9, content="Pods were red.", led_by=[CAUSE])
    show_hits(SearchOutput(namespace="n", queries=["q"], results=[hit], arms=OK, reranked=False, notes=[]))
    show_relevant(RelevantOutput(namespace="n", query="q", hits=[told], arms=OK, notes=[]))
    shown = capsys.readouterr().out
    assert shown.count("led to by root") == 2
    assert shown.count("…") == 2
    assert LED_BY[:20] in shown


def test_a_context_pack_is_printed_as_it_is(capsys):
    """The text alone on standard output, to be piped; what it takes, and remarks, on standard error."""
    pack = ContextOutput(
        namespace="n",
        query="q",
        text="head\n\n2026-02-18 Kenji: 16 minutes [memory: m-1]",
        tokens=20,
        max_tokens=100,
        counted_by="estimate",
        supported=True,
        items=[],
        arms=OK,
        reranked=False,
        notes=["1 of 2 hits found no room in 100 tokens"],
    )
    show_context(pack)
    shown = capsys.readouterr()
    assert shown.out == f"{pack.text}\n"
    assert "20 of 100 tokens (estimate)" in shown.err
    assert "found no room" in shown.err
