"""`librarian sweep` as an operator calls it."""

import asyncio
import json
import os
import stat
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

PROGRAM = Path(sys.executable).with_name("librarian")
SCHEMA = Path(__file__).resolve().parents[3] / "docs" / "sweep-report.schema.json"


@pytest.fixture
def cli(settings, librarian, namespace):
    """Runs `librarian sweep` in the test's namespace: (exit code, standard output, standard error)."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("LIBRARIAN_")}
    variables = {"LIBRARIAN_HOME": str(settings.home), "LIBRARIAN_NAMESPACE": namespace}

    async def run(*words):
        process = await asyncio.create_subprocess_exec(
            PROGRAM,
            "sweep",
            *map(str, words),
            env={**inherited, **variables, "LIBRARIAN_CACHE": str(settings.cache)},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        sys.stderr.write(err.decode())  # pytest shows it when the test fails
        return process.returncode, out.decode(), err.decode()

    return run


async def test_from_a_saved_plan_to_the_undo(cli, memories, stored):
    """The report stands alone on standard output and fits the published schema; the plan is saved for its owner only,
    and is applied from its file; the summary for people shows types before and after.
    """
    before = await stored()
    code, out, err = await cli("--dry-run", "--json-report")
    assert code == 0
    report = json.loads(out)
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(report)
    assert report["changes"]
    assert await stored() == before
    plan = err.split("The plan: ")[1].splitlines()[0]
    assert saved(plan) == (0o600, report)
    code, out, _ = await cli("--apply", plan)
    assert code == 0
    assert "retyped" in out
    assert "before" in out
    sweep_id = out.split()[0]
    assert await stored() != before
    code, out, _ = await cli("undo", sweep_id, "--json")
    assert (code, json.loads(out)["status"]) == (0, "undone")
    assert await stored() == before


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--limit", "0"], 65, "--limit"),
        (["--apply", "missing.json"], 65, "missing.json is missing"),
    ],
)
async def test_what_cannot_be_meant_ends_with_its_reason(cli, memories, words, code, said):
    """In words, with the option, and nothing on standard output."""
    ended = await cli(*words)
    assert (ended[0], ended[1]) == (code, "")
    assert said in ended[2]


def saved(path):
    """The mode and the contents of a saved plan."""
    return stat.S_IMODE(Path(path).stat().st_mode), json.loads(Path(path).read_text(encoding="utf-8"))
