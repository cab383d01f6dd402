"""The Professors of `examples/` as programs: the whole conversation over real HTTP, and what `professor check` says."""

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path

import httpx
import pytest

PROJECT = Path(__file__).resolve().parents[3]
DOCUMENTS = PROJECT / "examples" / "professor" / "documents"
QUESTION = ("--question", "決定係数の計算式を教えて", "--context", "Lecture 03: Regression Analysis")
TARGETS = ("--target", "definition", "--target", "formula", "--target", "interpretation_0_1", "--max-retries", "5")


@pytest.fixture(scope="session")
def go_program(tmp_path_factory):
    """The Go example, built and vetted once."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("Go is not installed")

    async def built():
        folder = tmp_path_factory.mktemp("go")
        program = folder / "professor"
        environment = {
            **os.environ,
            "GOFLAGS": "-mod=mod",
            "GOPROXY": "off",
            "GOTOOLCHAIN": "local",
        }
        for arguments in (("vet", "./..."), ("build", "-o", program, ".")):
            process = await asyncio.create_subprocess_exec(
                go, *arguments, cwd=PROJECT / "examples" / "professor-go", env=environment
            )
            assert await process.wait() == 0, arguments
        return program

    return built


@pytest.fixture(params=["python", "go"])
async def example(request, unused_port):
    """A running example, with a key; gives the address of its search."""
    if request.param == "python":
        command = [sys.executable, PROJECT / "examples" / "professor" / "professor.py"]
        options = ["--documents", DOCUMENTS, "--port", str(unused_port)]
    else:
        command = [await request.getfixturevalue("go_program")()]
        options = ["-documents", DOCUMENTS, "-port", str(unused_port)]
    process = await asyncio.create_subprocess_exec(
        *command,
        *options,
        env={**os.environ, "PROFESSOR_API_KEY": "s3cret"},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{unused_port}/search"
    try:
        async with asyncio.timeout(60), httpx.AsyncClient(trust_env=False) as client:
            while not await _answers(client, url):
                assert process.returncode is None
                await asyncio.sleep(0.05)
        yield url
    finally:
        process.terminate()
        await process.wait()


async def _answers(client, url):
    try:
        return (await client.post(url, json={})).status_code == 401
    except httpx.TransportError:
        return False


@pytest.fixture
def cli(finished, program, tmp_path):
    """Runs the command line to its end, without any database: (exit code, standard output, standard error)."""

    async def run(*args, **variables):
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(("LIBRARIAN_", "NEO4J_"))}
        environment = {**inherited, "LIBRARIAN_HOME": str(tmp_path / "home"), "PROFESSOR_API_KEY": "s3cret"}
        return await finished(program, *args, env={**environment, **variables})

    return run


async def test_the_whole_conversation_with_two_commands(example, cli, tmp_path):
    """The example question finds the definition, the formula and the interpretation in the notes of lecture 3, nothing
    else; the steps are shown as they are taken; nothing is started or kept in the home.
    """
    trace = tmp_path / "trace.json"
    code, out, err = await cli(
        "search-agent", *QUESTION, *TARGETS, "--trace", trace, "--json", PROFESSOR_SEARCH_URL=example
    )
    found = json.loads(out)
    assert (code, found["status"], found["missing_items"]) == (0, "COMPLETED", [])
    seen = {
        one["temp_index"]: one
        for step in json.loads(trace.read_bytes())["steps"]
        if step["step"] == "search"
        for one in step["candidates"]
    }
    chosen = [seen[one["temp_index"]] for one in found["selected_evidence"]]
    assert 2 <= len(chosen) <= 3
    assert {one["source"] for one in chosen} == {"Lecture 03 Regression Analysis"}
    assert {one["page"] for one in chosen} <= {"5", "6", "7"}
    assert "plan: " in err
    assert "search 1: " in err
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("example", ["python"], indirect=True)
async def test_a_trace_gives_the_same_again(example, cli, tmp_path):
    """With the Professor gone: 0 and "As recorded"; a changed trace is found out."""
    trace = tmp_path / "trace.json"
    code, _, _ = await cli("search-agent", *QUESTION, *TARGETS, "--trace", trace, PROFESSOR_SEARCH_URL=example)
    assert code == 0
    code, out, err = await cli("agent", "replay", trace)
    assert (code, "As recorded." in err) == (0, True)
    assert out.startswith("COMPLETED")
    content = json.loads(trace.read_bytes())
    content["steps"][-1]["selected_evidence"] = []
    trace.write_text(json.dumps(content))
    code, _, err = await cli("agent", "replay", trace)
    assert (code, "selected_evidence" in err) == (1, True)
    trace.write_text('{"version": 1, "steps": []}')
    assert (await cli("agent", "replay", trace))[0] == 65


async def test_the_examples_keep_the_contract(example, cli):
    """`professor check` finds nothing to complain about."""
    code, out, _ = await cli("professor", "check", example, "--query", "決定係数", "--json")
    findings = json.loads(out)
    assert {one["status"] for one in findings} == {"ok"}
    assert {"search", "references", "numbering", "requests apart", "japanese", "key"} <= {
        one["name"] for one in findings
    }
    assert code == 0


async def test_a_check_names_what_is_broken(cli, professor_url, professor):
    """A Professor that begins anew in each search, of which one page is no text; the exit code is 1."""
    code, out, _ = await cli("professor", "check", professor_url, "--query", "決定係数", PROFESSOR_API_KEY="")
    assert code == 0, out
    numbered = professor.found

    def anew(query):
        return [{**one, "temp_index": number} for number, one in enumerate(numbered(query), start=1)]

    professor.found = anew
    code, out, _ = await cli("professor", "check", professor_url, "--query", "平均", "--json", PROFESSOR_API_KEY="")
    broken = {one["name"]: one["detail"] for one in json.loads(out) if one["status"] == "failed"}
    assert (code, set(broken)) == (1, {"numbering"})
    assert "numbering goes on through one request_id" in broken["numbering"]
