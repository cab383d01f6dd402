"""`librarian sweep` as an operator calls it."""

import json
import shlex
import stat
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

SCHEMA = Path(__file__).resolve().parents[3] / "docs" / "sweep-report.schema.json"


@pytest.fixture
def cli(finished, environment, librarian, program, installed, namespace):
    """Runs `librarian sweep` in the test's namespace: (exit code, standard output, standard error). `limit` is what the
    shell does before, `into` where its output goes.
    """

    async def run(*words, limit="", into="", **more):
        called = shlex.join([str(installed if limit else program), "sweep", *map(str, words)])
        variables = {**environment, "LIBRARIAN_NAMESPACE": namespace, **more}
        return await finished("bash", "-c", f"{limit} exec {called} {into}", env=variables)

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


async def test_a_limited_sweep_says_how_many_are_left(cli, memories):
    """A whole one has nothing to say of it."""
    rows = {limit: (await cli("--dry-run", *limit))[1] for limit in ((), ("--limit", "3"))}
    assert "left for the next sweep" not in rows[()]
    (row,) = [line for line in rows["--limit", "3"].splitlines() if "left for the next sweep" in line]
    assert row.split()[-2] == str(len(memories) - 3)


@pytest.fixture
def plans(settings):
    """The folder of saved plans, empty."""
    folder = settings.home / "sweeps"
    folder.mkdir(exist_ok=True)
    for plan in folder.iterdir():
        plan.unlink()
    return folder


async def test_a_plan_that_does_not_fit_is_not_kept(cli, memories, plans, stored):
    """The command says what is full and what to do, with exit code 73; no half plan is left, and nothing is changed."""
    before = await stored()
    code, out, err = await cli("--dry-run", limit="ulimit -f 2;")
    assert (code, out) == (73, "")
    assert f"{plans} cannot be written: File too large" in err
    assert "Make room" in err
    assert list(plans.iterdir()) == []
    assert await stored() == before


async def test_a_plan_that_cannot_be_kept_is_not_made(cli, memories, plans):
    """A folder that cannot be written is said before anything is looked at."""
    plans.rmdir()
    plans.touch()
    try:
        code, out, err = await cli("--dry-run", "--domains", "nowhere")
    finally:
        plans.unlink()
    assert (code, out) == (73, "")
    assert f"{plans} cannot be written: File exists" in err


async def test_a_report_that_does_not_fit_leaves_a_sweep_that_goes_on(cli, memories, stored, tmp_path):
    """Changes made until then are kept whole and can be resumed, and then taken back; without a report to keep, nothing
    is written, and the sweep needs no room.
    """
    before = await stored()
    code, out, err = await cli("--json-report", limit="ulimit -f 1;")
    assert (code, out) == (73, "")
    assert "the folder for temporary files cannot be written: File too large" in err
    assert "TMPDIR" in err
    sweep_id = err.split("to continue: librarian sweep --resume ")[1].split()[0]
    code, out, _ = await cli("--resume", sweep_id, limit="ulimit -f 1;")
    assert (code, out.split()[:2]) == (0, [sweep_id, "(applied)"])
    code, out, _ = await cli("undo", sweep_id, "--json")
    assert (code, json.loads(out)["status"]) == (0, "undone")
    assert await stored() == before


async def test_an_output_that_is_full_is_said(cli, memories, stored):
    """With what was done all the same, and how to take it back."""
    before = await stored()
    for form in (["--json-report"], []):
        code, _, err = await cli(*form, into="> /dev/full")
        assert code == 73
        assert "the output cannot be written: No space left on device" in err
        sweep_id = err.split("is applied. This takes it back: librarian sweep undo ")[1].split()[0]
        code, _, _ = await cli("undo", sweep_id)
        assert code == 0
        assert await stored() == before


def saved(path):
    """The mode and the contents of a saved plan."""
    return stat.S_IMODE(Path(path).stat().st_mode), json.loads(Path(path).read_text(encoding="utf-8"))
