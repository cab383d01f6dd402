import io
import json
import logging

import pytest
import structlog

from librarian.base.logs import configure
from librarian.base.settings.settings import LogSettings
from librarian.base.settings.values import MASK


@pytest.fixture
def stream():
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield io.StringIO()
    root.handlers[:], root.level = handlers, level
    structlog.reset_defaults()


def logged(stream, log, **event):
    configure(log, default_level="info", stream=stream)
    structlog.stdlib.get_logger("librarian.test").info("happened", **event)
    return json.loads(stream.getvalue())


def test_lines_off_a_terminal_are_json_with_context(stream):
    with structlog.contextvars.bound_contextvars(request_id="r1"):
        line = logged(stream, LogSettings(), rows=3)
    assert line["event"] == "happened"
    assert (line["rows"], line["request_id"], line["level"], line["logger"]) == (3, "r1", "info", "librarian.test")
    assert line["timestamp"].endswith("Z")


def test_the_standard_library_s_loggers_come_out_the_same_way(stream):
    configure(LogSettings(), default_level="info", stream=stream)
    logging.getLogger("librarian.graph").warning("port %d", 7)
    assert json.loads(stream.getvalue())["event"] == "port 7"


def test_texts_and_secrets_stay_out_and_queries_are_a_choice(stream):
    line = logged(stream, LogSettings(), text="my diary", query="who?", password="pw")
    assert (line["text"], line["query"], line["password"]) == ("<8 characters>", "who?", MASK)


def test_hashed_queries_can_still_be_counted(stream):
    line = logged(stream, LogSettings(queries=False), queries=["who?", "who?", "why?"])
    assert "who?" not in str(line)
    assert line["queries"][0] == line["queries"][1] != line["queries"][2]


def test_texts_are_logged_when_asked_for(stream):
    assert logged(stream, LogSettings(texts=True), text="my diary")["text"] == "my diary"


def test_tracebacks_hold_no_local_variables(stream):
    configure(LogSettings(), default_level="info", stream=stream)
    diary = "my diary"
    try:
        len(diary) / 0
    except ZeroDivisionError:
        structlog.stdlib.get_logger("librarian.test").exception("failed")
    assert "ZeroDivisionError" in stream.getvalue()
    assert diary not in stream.getvalue().replace('diary = "my diary"', "")


def test_the_console_format_is_for_people(stream):
    configure(LogSettings(format="console"), default_level="warning", stream=stream)
    structlog.stdlib.get_logger("librarian.test").info("quiet")
    structlog.stdlib.get_logger("librarian.test").warning("loud")
    assert "loud" in stream.getvalue()
    assert "quiet" not in stream.getvalue()
