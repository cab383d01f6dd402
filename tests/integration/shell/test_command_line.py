import asyncio
import json
import signal


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def message(uid, text):
    return {"kind": "message", "uid": uid, "text": text, "author": "Ana"}


async def test_what_goes_in_is_found_and_shown(cli, namespace, tmp_path):
    """ingest encodes what it stored, search finds it, get shows it; the same file twice changes nothing."""
    file = write(tmp_path / "rows ü.jsonl", message("m1", "The ferry leaves at nine."), message("m2", "Bring cheese."))
    code, out, _ = await cli("ingest", file, "--namespace", namespace, "--json")
    report = json.loads(out)
    assert (code, report["added"], report["pending_embeddings"]) == (0, 2, 0)
    code, out, _ = await cli("ingest", file, "--namespace", namespace, "--json")
    assert (code, json.loads(out)["unchanged"]) == (0, 2)
    code, out, _ = await cli(
        "search", "when does the ship depart?", "--namespace", namespace, "--author", "Ana", "--json"
    )
    assert (code, json.loads(out)["results"][0]["uid"]) == (0, "m1")
    code, out, _ = await cli("search", "ferry", "--namespace", namespace, "--explain")
    assert code == 0
    assert "keyword rank 1" in out
    code, out, _ = await cli("get", "m1", "--namespace", namespace)
    assert code == 0
    assert "The ferry leaves at nine." in out


async def test_failures_are_listed_with_their_lines_and_the_exit_code_is_1(cli, namespace):
    """One bad line never loses the others."""
    code, out, _ = await cli(
        "ingest", "-", "-n", namespace, stdin=b'{"kind":"message","text":"a"}\n\n{"kind":"poem"}\n'
    )
    assert code == 1
    assert "3" in out
    assert "$.kind" in out


async def test_an_item_that_is_not_there_is_exit_code_66(cli, namespace):
    """Nothing stands on standard output then."""
    code, out, err = await cli("get", "nobody", "-n", namespace)
    assert (code, out) == (66, "")
    assert namespace in err


async def test_rows_may_name_their_namespaces_unless_the_command_does(cli, namespace):
    """Without --namespace each row goes where it says; with it, a row that says otherwise fails."""
    row = json.dumps({**message("n1", "x"), "namespace": namespace}).encode()
    code, _, _ = await cli("ingest", "-", "--no-embed", stdin=row)
    assert (code, (await cli("get", "n1", "-n", namespace))[0]) == (0, 0)
    code, out, _ = await cli("ingest", "-", "-n", "test-elsewhere", "--json", stdin=row)
    assert (code, json.loads(out)["errors"][0]["field"]) == (1, "$.namespace")


async def test_an_interrupted_ingest_says_what_is_kept_and_resumes_after_it(
    installed, cli, environment, settings, namespace, tmp_path
):
    """Ctrl-C ends with code 130; --resume goes on after the last stored row and, when done, forgets."""
    rows = 6000
    file = write(tmp_path / "rows.jsonl", *(message(f"r{n}", f"row {n}") for n in range(rows)))
    bookmarks = settings.home / "ingest"
    process = await asyncio.create_subprocess_exec(
        installed, "ingest", file, "-n", namespace, "--no-embed", env=environment, stderr=asyncio.subprocess.PIPE
    )
    while not list(bookmarks.glob("[!.]*.json")):
        assert process.returncode is None, await process.stderr.read()
        await asyncio.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = await process.communicate()
    assert process.returncode == 130
    assert b"rows are stored" in err
    assert b"Traceback" not in err
    code, out, said = await cli("ingest", file, "-n", namespace, "--no-embed", "--resume", "--json")
    line = int(said.partition("Going on after line ")[2].partition(".")[0])
    report = json.loads(out)
    assert code == 0
    assert 0 < line < rows
    assert report["added"] + report["unchanged"] == rows - line
    assert not list(bookmarks.glob("*.json"))
    assert (await cli("get", f"r{rows - 1}", "-n", namespace))[0] == (await cli("get", "r0", "-n", namespace))[0] == 0


async def test_resume_without_a_record_says_why_it_starts_anew(cli, namespace, tmp_path):
    """Nothing is skipped in silence."""
    file = write(tmp_path / "rows.jsonl", message("m1", "x"))
    code, _, err = await cli("ingest", file, "-n", namespace, "--resume", "--no-embed")
    assert code == 0
    assert "no unfinished ingest" in err


async def test_a_reader_that_leaves_early_is_no_error(installed, environment, cli, namespace, tmp_path):
    """`librarian search … | head -1` prints no traceback."""
    await cli("ingest", write(tmp_path / "rows.jsonl", message("m1", "x y " * 50_000)), "-n", namespace, "--no-embed")
    piped = await asyncio.create_subprocess_shell(
        f"'{installed}' get m1 -n {namespace} | head -c 1", env=environment, stderr=asyncio.subprocess.PIPE
    )
    _, err = await piped.communicate()
    assert b"Traceback" not in err
    assert b"BrokenPipe" not in err


async def test_the_graph_s_state_is_told(cli):
    """migrate, embeddings and doctor look at the running graph and find it as declared."""
    code, out, _ = await cli("migrate", "status", "--json")
    assert code == 0
    assert {migration["state"] for migration in json.loads(out)} == {"applied"}
    assert (await cli("migrate", "validate"))[0] == 0
    assert "Nothing to do" in (await cli("migrate", "plan"))[2]
    assert "Nothing to do" in (await cli("migrate", "apply"))[2]
    assert (await cli("migrate", "repair", "--accept", "9999"))[0] == 66
    code, out, _ = await cli("embeddings", "status", "--json")
    assert (code, [space["active"] for space in json.loads(out)]) == (0, [True])
    code, out, _ = await cli("doctor", "--json")
    checks = {check["name"]: check["status"] for check in json.loads(out)}
    assert (code, checks["database"], checks["schema"]) == (0, "ok", "ok")
