"""The command line that asks a service: as without one, seen from outside."""

import json
import re
from pathlib import Path

import pytest


async def test_the_verbs_work_through_a_service(cli, service_url, namespace):
    """remember, search, edit, put, link, edges, correct, history, forget, ingest by --remote or LIBRARIAN_REMOTE."""
    where = ("-n", namespace)

    async def said(*args, stdin=b""):
        code, out, err = await cli("--remote", service_url, *args, *where, stdin=stdin)
        assert code == 0, err
        return out

    uid = (await said("remember", "The nightly backup failed.")).strip()
    assert (await said("edit", uid, "--set", "importance=7")).strip() == uid
    assert json.loads(await said("get", uid, "--json"))["version"] == 2
    put = json.loads(await said("put", "cure", "-", "--json", stdin=b'{"kind": "memory", "text": "Delete logs."}'))
    assert put["outcome"] == "added"
    edge = (await said("link", "cure", "BLOCKS", uid)).strip()
    assert [entry["edge_id"] for entry in json.loads(await said("edges", "--json"))["edges"]] == [edge]
    await said("correct", uid, "--text", "No backup: no inodes.")
    assert "The nightly backup failed." in await said("history", uid, "--json")
    assert "no inodes" in await said("search", "inodes")
    rows = b'{"kind": "memory", "uid": "m", "text": "more"}\n'
    report = json.loads(await said("ingest", "-", "--json", stdin=rows))
    assert (report["added"], report["failed"]) == (1, 0)
    await said("unlink", edge)
    await said("forget", uid, "--yes")
    code, out, _ = await cli("list", "--json", *where, LIBRARIAN_REMOTE=service_url)
    assert (code, {item["uid"] for item in json.loads(out)["items"]}) == (0, {"cure", "m"})
    code, out, _ = await cli("namespaces", "list", "--json", LIBRARIAN_REMOTE=service_url)
    assert namespace in [entry["namespace"] for entry in json.loads(out)["namespaces"]]


@pytest.mark.parametrize(
    "args",
    [
        ("search-facts", "backup"),
        ("search-messages", "backup"),
        ("search-memories", "backup"),
        ("search-all", "backup"),
        ("stale",),
        ("review",),
        ("sweep", "list"),
        ("open", "nowhere.py"),
    ],
)
async def test_option_and_variable_name_the_service_alike(cli, service_url, namespace, args):
    """Whatever asks a service by LIBRARIAN_REMOTE does so by --remote, with the output that it has without one."""
    await cli("remember", "The nightly backup failed.", "--uid", "a", "-n", namespace)

    async def said(*given, **env):
        """The output without similarities: each process measures for itself how similar unrelated texts are."""
        code, *texts = await cli(*given, *args, "-n", namespace, **env)
        return code, [re.sub(r"0\.\d\d", "0.", text) for text in texts]

    here = await said()
    assert await said("--remote", service_url) == here
    assert await said(LIBRARIAN_REMOTE=service_url) == here


async def test_a_sweep_through_a_service(cli, service_url, namespace, settings):
    """The plan of a dry run is saved here, and applied from here; the sweep is listed and taken back."""
    where = ("-n", namespace)

    async def said(*args):
        code, out, err = await cli("--remote", service_url, "sweep", *args, *where)
        assert code == 0, err
        return out, err

    await cli("remember", "Decision: we chose Postgres for billing because MySQL lost writes.", "--uid", "a", *where)
    before = (await cli("get", "a", "--json", *where))[1]
    out, err = await said("--dry-run", "--json-report")
    report = json.loads(out)
    assert {change["memory_id"] for change in report["changes"]} == {"a"}
    plan = Path(err.split("The plan: ")[1].splitlines()[0])
    assert (plan.parent, saved(plan)) == (settings.home / "sweeps", report)
    assert (await cli("get", "a", "--json", *where))[1] == before
    out, _ = await said("--apply", plan)
    sweep_id = out.split()[0]
    assert (await cli("get", "a", "--json", *where))[1] != before
    listed = json.loads((await cli("sweep", "list", "--json", *where, LIBRARIAN_REMOTE=service_url))[1])
    assert [sweep["sweep_id"] for sweep in listed["sweeps"]] == [sweep_id]
    undone = json.loads((await said("undo", sweep_id, "--json"))[0])
    assert (undone["sweep_id"], undone["status"]) == (sweep_id, "undone")
    assert json.loads((await cli("get", "a", "--json", *where))[1])["text"] == json.loads(before)["text"]


async def test_what_a_service_refuses_of_a_sweep_names_the_option(cli, service_url, namespace):
    """With the exit code that it has without a service."""
    for args in (("--domains", "nowhere"), ("--limit", "0"), ("--resume", "sweep-20260101-001"), ("--llm",)):
        here = await cli("sweep", *args, "-n", namespace)
        assert here[0] != 0
        assert await cli("--remote", service_url, "sweep", *args, "-n", namespace) == here


async def test_output_and_exit_codes_are_those_without_a_service(cli, service_url, namespace):
    """The same bytes on standard output and the same exit code, for answers and for errors."""
    await cli("remember", "One thing.", "--uid", "a", "-n", namespace, "--no-embed")
    for args in (("get", "a"), ("get", "a", "--json"), ("list",), ("get", "gone"), ("list", "--limit", "0")):
        here = await cli(*args, "-n", namespace)
        there = await cli("--remote", service_url, *args, "-n", namespace)
        assert there == here


@pytest.mark.parametrize(
    ("variables", "args", "code"),
    [
        ({"LIBRARIAN_API_KEY": "wrong"}, ("list",), 77),
        ({"LIBRARIAN_REMOTE": "http://127.0.0.1:9"}, ("list",), 69),
        ({"LIBRARIAN_REMOTE": "http://192.0.2.1"}, ("list",), 78),
        ({}, ("embeddings", "status"), 65),
    ],
)
async def test_what_cannot_be_asked_is_said(cli, service_url, variables, args, code):
    """A wrong key, nobody there, a key that would travel open, and what only works on the graph."""
    done = await cli(*args, **{"LIBRARIAN_REMOTE": service_url, **variables})
    assert done[:2] == (code, "")
    assert "Traceback" not in done[2]


@pytest.mark.parametrize("command", ["serve", "migrate", "server", "doctor", "eval", "embeddings", "keys"])
async def test_what_works_on_this_machine_only_refuses_the_option(cli, service_url, command):
    """It must not quietly work on another graph than the one that was named."""
    code, _, err = await cli("--remote", service_url, command)
    assert code == 2
    assert "this machine only" in err


def saved(plan):
    """Return the contents of a saved plan."""
    return json.loads(plan.read_bytes())
