"""What the documentation shows in Python runs as it stands."""

import re
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
EXAMPLES = [
    pytest.param(code, id=f"{page}-{number}")
    for page in ("README.md", "docs/python.md")
    for number, code in enumerate(BLOCK.findall((PROJECT / page).read_text(encoding="utf-8")), start=1)
]


def test_there_are_examples():
    """A page whose blocks are not found would pass for ever."""
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize("code", EXAMPLES)
async def test_an_example_runs_and_prints_only_its_answers(finished, librarian, service_url, code):
    """Against the run's graph and service, warnings as errors; nothing comes out but what the example prints."""
    await librarian.load_sample()
    await librarian.embed_pending()
    done, out, err = await finished(sys.executable, "-W", "error", "-c", code, LIBRARIAN_REMOTE=service_url)
    assert (done, err) == (0, "")
    assert out
    assert not re.search(r"\[(debug|info|warning)\b", out), "a library must not print its log"
