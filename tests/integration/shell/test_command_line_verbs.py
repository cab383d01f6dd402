"""The verbs of the command line as a user calls them, over the run's graph."""

import asyncio
import json


async def said(cli, *args, **more):
    """Standard output of a command that must succeed."""
    code, out, err = await cli(*args, **more)
    assert code == 0, err
    return out


async def test_a_memory_lives_from_remember_to_forget(cli, namespace):
    """remember, search, correct, history, link, edges, unlink, forget: each sees what the others did."""
    where = ("-n", namespace)
    text = "The nightly backup failed because the disk was full."
    problem = (await said(cli, "remember", text, "--type", "Problem", "--importance", "8", *where)).strip()
    again = json.loads(await said(cli, "remember", text, "--type", "Problem", "--importance", "8", *where, "--json"))
    assert (again["outcome"], again["item"]["uid"]) == ("unchanged", problem)
    cure = "消すのは毎晩。Old logs are deleted every night."
    out = await said(
        cli, "remember", "-", "--uid", "cure", "--tag", "ops", *where, "--json", stdin=f"{cure}\n".encode()
    )
    assert json.loads(out)["item"]["text"] == cure

    found = json.loads(await said(cli, "search", "why was there no backup?", "--type", "Problem", *where, "--json"))
    assert [(hit["uid"], hit["similarity_score"] is not None) for hit in found["results"]] == [(problem, True)]

    await said(cli, "correct", problem, "--text", "The backup failed: no inodes.", "--reason", "df -i", *where)
    history = json.loads(await said(cli, "history", problem, *where, "--json"))
    assert [(one["text"], one["reason"], one["actor"]) for one in history["revisions"]] == [(text, "df -i", "cli")]
    table = await said(cli, "history", problem, *where)
    assert "df -i" in table
    shown = json.loads(await said(cli, "get", problem, *where, "--json"))
    assert (shown["text"], shown["version"]) == ("The backup failed: no inodes.", 2)

    edge_id = (await said(cli, "link", "cure", "BLOCKS", problem, "--reason", "frees space", *where)).strip()
    listed = json.loads(await said(cli, "edges", "--uid", problem, *where, "--json"))["edges"]
    assert [(edge["edge_id"], edge["method"], edge["reason"]) for edge in listed] == [(edge_id, "human", "frees space")]
    assert "BLOCKS" in await said(cli, "edges", *where)
    await said(cli, "unlink", "cure", "BLOCKS", problem, *where)
    assert json.loads(await said(cli, "edges", *where, "--json"))["edges"] == []
    assert (await cli("unlink", edge_id, *where))[0] == 66

    preview = await said(cli, "forget", problem, *where)
    assert problem in preview
    token = preview.rpartition("--confirm ")[2].strip()
    assert (await cli("get", problem, *where))[0] == 0
    await said(cli, "forget", problem, "--confirm", token, *where)
    assert (await cli("get", problem, *where))[0] == 66
    assert (await cli("history", problem, *where))[0] == 66
    left = json.loads(await said(cli, "list", *where, "--json"))["items"]
    assert [item["uid"] for item in left] == ["cure"]


async def test_a_fact_is_corrected_by_a_newer_one_and_as_of_sees_the_old(cli, namespace):
    """The old fact stays for those who ask about its time; its evidence is shown."""
    where = ("-n", namespace)
    message = {"kind": "message", "uid": "m1", "text": "I live in Lisbon now.", "author": "Ana"}
    await said(cli, "ingest", "-", "--no-embed", *where, stdin=json.dumps(message).encode())
    triple = ("--subject", "Ana", "--predicate", "lives in", "--object", "Lisbon")
    await said(
        cli,
        "remember",
        "--kind",
        "fact",
        "--uid",
        "f1",
        *triple,
        "--evidence",
        "m1",
        "--valid-from",
        "2020-01-01",
        *where,
    )
    assert "I live in Lisbon now." in await said(cli, "get", "f1", *where)
    out = await said(cli, "correct", "f1", "--object", "Porto", "--valid-from", "2024-05-01", *where, "--json")
    corrected = json.loads(out)
    assert (corrected["superseded"], corrected["item"]["text"]) == ("f1", "Ana lives in Porto")
    now = json.loads(await said(cli, "search", "where does Ana live?", "--kind", "fact", *where, "--json"))
    then = json.loads(
        await said(cli, "search", "where does Ana live?", "--kind", "fact", "--as-of", "2021-06-01", *where, "--json")
    )
    assert [hit["object"] for hit in now["results"]] == ["Porto"]
    assert [hit["object"] for hit in then["results"]] == ["Lisbon"]


async def test_fields_are_edited_one_by_one_at_the_version_that_was_seen(cli, namespace):
    """--set and --unset change those fields only; --if-version refuses what others changed meanwhile."""
    where = ("-n", namespace, "--no-embed")
    row = {"kind": "memory", "text": "Deploys need a second pair of eyes.", "domain": "ops", "tags": ["deploy"]}
    await said(cli, "put", "m1", "-", *where, stdin=json.dumps(row).encode())
    out = await said(
        cli, "edit", "m1", "--set", "importance=9", "--set", "tags=deploy,review", "--unset", "domain", *where, "--json"
    )
    edited = json.loads(out)
    kept = {name: edited["properties"].get(name) for name in ("importance", "tags", "domain")}
    assert (edited["version"], edited["text"]) == (2, row["text"])
    assert kept == {"importance": 9, "tags": ["deploy", "review"], "domain": None}
    assert (await cli("edit", "m1", "--set", "importance=1", "--if-version", "1", *where))[0] == 65
    assert (await cli("put", "m1", "-", "--if-version", "1", *where, stdin=json.dumps(row).encode()))[0] == 65
    assert json.loads(await said(cli, "get", "m1", "-n", namespace, "--json"))["version"] == 2


async def test_a_list_has_every_item_once_page_by_page_or_all_at_once(cli, ingest, namespace):
    """--all streams one JSON line for each item; a cursor goes on where the page before ended."""
    rows = [{"kind": "memory", "uid": f"m{n}", "text": f"note {n}", "tags": ["even"][n % 2 :]} for n in range(7)]
    await ingest(*rows, embed=False)
    where = ("--limit", "3", "-n", namespace)
    lines = (await said(cli, "list", "--all", "--json", *where)).splitlines()
    assert sorted(json.loads(line)["uid"] for line in lines) == sorted(row["uid"] for row in rows)
    first = json.loads(await said(cli, "list", "--tag", "even", "--json", *where))
    more = ("--cursor", first["next_cursor"])
    second = json.loads(await said(cli, "list", "--tag", "even", "--json", *more, *where))
    uids = [item["uid"] for page in (first, second) for item in page["items"]]
    assert (sorted(uids), second["next_cursor"]) == (["m0", "m2", "m4", "m6"], None)
    code, _, err = await cli("list", *more, *where)
    assert (code, "--cursor" in err) == (65, True)
    assert "--cursor" in (await cli("list", *where))[2]
    table = await said(cli, "list", "--all", *where)
    assert all(row["text"] in table for row in rows)


async def test_yes_deletes_exactly_its_preview_and_asks_nothing(cli, ingest, namespace):
    """Filters choose; what they do not match stays, and nothing waits for an answer on standard input."""
    await ingest(
        {"kind": "memory", "uid": "old", "text": "old", "domain": "a"},
        {"kind": "memory", "uid": "new", "text": "new", "domain": "b"},
        embed=False,
    )
    where = ("-n", namespace)
    assert (await cli("forget", *where))[0] == 65
    done = json.loads(await said(cli, "forget", "--domain", "a", "--yes", *where, "--json"))
    assert (done["deleted"], done["counts"]["by_kind"]) == (True, {"memory": 1})
    assert (await cli("get", "old", *where))[0] == 66
    assert (await cli("get", "new", *where))[0] == 0
    code, out, err = await cli("forget", "--domain", "a", "--yes", *where)
    assert (code, out) == (0, "")
    assert "Nothing matches" in err


async def test_a_namespace_is_counted_and_deleted_with_everything_in_it(cli, ingest, namespace):
    """First the preview, then exactly that; its neighbour with the same uids stays."""
    neighbour = f"{namespace}-b"
    for where in (namespace, neighbour):
        await ingest(
            {"kind": "memory", "uid": "m1", "text": "x"}, {"kind": "memory", "uid": "m2", "text": "y"}, into=where
        )
        await said(cli, "link", "m1", "CAUSES", "m2", "-n", where)
    listed = json.loads(await said(cli, "namespaces", "list", "--json"))["namespaces"]
    own = next(one for one in listed if one["namespace"] == namespace)
    assert (own["items"], own["by_kind"]["memory"]) == (2, 2)
    assert "2 memory" in await said(cli, "namespaces", "list")
    preview = await said(cli, "namespaces", "delete", namespace)
    token = preview.rpartition("--confirm ")[2].strip()
    assert (await cli("namespaces", "delete", neighbour, "--confirm", token))[0] == 65
    await said(cli, "namespaces", "delete", namespace, "--confirm", token)
    assert (await cli("namespaces", "delete", namespace))[0] == 66
    done = json.loads(await said(cli, "namespaces", "delete", neighbour, "--yes", "--json"))
    assert (done["deleted"], done["counts"]["items"], done["counts"]["edges"]) == (True, 2, 1)


async def test_control_characters_of_a_text_do_not_reach_the_terminal(cli, ingest, namespace):
    """A stored text cannot steer the terminal, in whatever table it stands."""
    await ingest({"kind": "memory", "uid": "m1", "text": "red \x1b[31m alert", "source": "\x1b]0;x"}, embed=False)
    for command in (("get", "m1"), ("list",), ("forget", "m1"), ("search", "alert")):
        out = await said(cli, *command, "-n", namespace)
        assert "alert" in out
        assert "\x1b" not in out


async def test_a_key_that_is_revoked_rotated_or_expired_stops_at_the_next_request(client, cli, keys, namespace):
    """A running service reads the key file again whenever it changes; a grace time keeps both keys."""

    async def key(*args):
        return json.loads(await said(cli, "keys", *args, "--json", LIBRARIAN_KEYS_FILE=str(keys.path)))

    async def status(entry):
        answer = await client.get(
            "/v1/items/nobody",
            headers={"Authorization": f"Bearer {entry['key']}", "Librarian-Namespace": namespace},
        )
        return answer.status_code

    revoked, rotated, kept, ending = await asyncio.gather(
        *(key("create", name, "--namespace", namespace) for name in ("revoked", "rotated", "kept", "ending"))
    )
    assert [await status(entry) for entry in (revoked, rotated, kept, ending)] == [404] * 4
    await cli("keys", "revoke", revoked["id"], LIBRARIAN_KEYS_FILE=str(keys.path))
    new = await key("rotate", rotated["id"])
    newer = await key("rotate", kept["id"], "--grace", "24h")
    content = json.loads(keys.path.read_text())
    next(one for one in content["keys"] if one["id"] == ending["id"])["expires_at"] = "2020-01-01T00:00:00Z"
    keys.path.write_text(json.dumps(content))
    assert [await status(entry) for entry in (revoked, rotated, ending)] == [401] * 3
    assert [await status(entry) for entry in (new, kept, newer)] == [404] * 3
