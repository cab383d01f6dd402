"""The command line that asks a service: as without one, seen from outside."""

import json

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
    assert [one["edge_id"] for one in json.loads(await said("edges", "--json"))["edges"]] == [edge]
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
    assert namespace in [one["namespace"] for one in json.loads(out)["namespaces"]]


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
