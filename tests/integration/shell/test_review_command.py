"""`librarian review` as an operator calls it."""

import json

from librarian.sweep.contracts import SweepRequest

TWIN = "TIL: the cache of the search page is warmed by the deploy hook at 06:00 every day"
ROWS = {
    "cause": "Verbose logging was switched on in export_job.py on Monday.",
    "problem": "Problem: the nightly export failed, perhaps because of the verbose logging in export_job.py.",
    "vague": "Blue, mostly.",
    "fuller": f"{TWIN}, too.",
    "twin": f"{TWIN}.",
}


async def test_what_a_sweep_proposes_is_decided_at_the_terminal(cli, librarian, ingest, namespace, tmp_path):
    """Listed, rejected with a reason, accepted with another type, and written out as labels; a decision that stands is
    said, and another one is refused.
    """
    await ingest(*({"kind": "memory", "uid": uid, "text": text} for uid, text in ROWS.items()))
    await librarian.sweep(namespace, SweepRequest())
    where = ("-n", namespace)
    code, out, _ = await cli("review", "--json", *where)
    assert code == 0
    listed = {(entry["sort"], entry["item"]["uid"]): entry["review_id"] for entry in json.loads(out)["reviews"]}
    edge = next(review_id for (sort, _), review_id in listed.items() if sort == "edge")
    flag, merge = listed["flag", "vague"], listed["merge", "twin"]

    code, out, err = await cli("review", "accept", flag, "--type", "Insight", *where)
    assert (code, out) == (0, "")
    assert err.strip() == "Accepted: Blue, mostly.  is of type Insight, not untyped."
    code, out, _ = await cli("review", "reject", edge, "--reason", "seen otherwise", "--json", *where)
    assert (code, json.loads(out)["review"]["review_reason"]) == (0, "seen otherwise")
    assert json.loads(out)["review"]["reviewed_by"] == "cli"
    code, _, err = await cli("review", "accept", edge, *where)
    assert (code, "it is rejected" in err) == (65, True)
    assert (await cli("review", "accept", merge, *where))[0] == 0

    assert (await librarian.get_item(namespace, "vague")).properties["type"] == "Insight"
    assert (await librarian.get_edge(namespace, edge)).state == "rejected"
    code, out, _ = await cli("review", "--state", "accepted", "--state", "rejected", *where)
    assert code == 0
    assert all(word in out for word in ("says the same as", "rejected", "seen otherwise"))
    assert (await cli("review", "--export", "labels", *where))[0] == 0
    labels = {path.name: path.read_text(encoding="utf-8").splitlines() for path in (tmp_path / "labels").iterdir()}
    assert {name: len(lines) for name, lines in labels.items()} == {
        "causal.jsonl": 1, "types.jsonl": 1, "merges.jsonl": 1
    }  # fmt: skip
    assert json.loads(labels["types.jsonl"][0])["type"] == "Insight"


async def test_all_of_one_reason_are_decided_at_the_terminal(cli, librarian, ingest, namespace):
    """The kinds of reasons are listed; one is decided after a preview, or unasked with --yes."""
    await ingest(*({"kind": "memory", "uid": uid, "text": text} for uid, text in ROWS.items()))
    await librarian.sweep(namespace, SweepRequest())
    where, because = ("-n", namespace), ("--because", "both say the same")
    code, out, _ = await cli("review", "reasons", *where)
    assert (code, "both say the" in out, "lesson" in out) == (0, True, True)
    code, out, err = await cli("review", "all", "reject", *because, *where)
    assert (code, "1 would be rejected" in err, "Nothing is decided yet" in err) == (0, True, True)
    confirm = out.splitlines()[-1].split()
    assert confirm[0] == "--confirm"
    code, _, err = await cli("review", "all", "reject", *because, *confirm, *where)
    assert (code, err.strip()) == (0, "1 of 1 rejected.")
    assert json.loads((await cli("review", "--json", *because, *where))[1])["reviews"] == []
    code, _, err = await cli("review", "all", "accept", *because, "--yes", *where)
    assert (code, err.strip()) == (0, "Nothing matches; nothing is decided.")
