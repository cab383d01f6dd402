"""Turns that a coding agent's hooks keep are found in the graph, and given back at the start of the next session."""

from librarian.cli.hooks.commands import _recalled
from librarian.items.capture import turn
from librarian.items.capture.delivery import Delivery
from librarian.items.contracts import ItemQuery, RememberInput


async def test_a_session_is_kept_once_and_recalled_in_the_next(librarian, namespace, tmp_path):
    """Delivered twice it is there once; a session is not told what it has said itself."""
    folder = str(tmp_path / "capture")
    said = {"session_id": "first", "cwd": "/srv/shop"}
    turn.kept(
        folder,
        "codex",
        namespace,
        {**said, "hook_event_name": "UserPromptSubmit", "prompt": "We deploy on Thursdays now."},
    )
    spool = (tmp_path / "capture" / "spool.jsonl").read_bytes()
    delivery = Delivery(tmp_path, librarian.ingest)
    assert (await delivery.deliver()).stored == 1
    (tmp_path / "capture" / "spool.jsonl").write_bytes(spool)
    assert (await delivery.deliver()).rejected == 0
    items = (await librarian.list_items(namespace, ItemQuery())).items
    assert [(item.text, item.properties["session_id"]) for item in items] == [("We deploy on Thursdays now.", "first")]
    await librarian.remember(namespace, RememberInput(kind="memory", text="Decision: staging goes away in May."))
    pack = await _recalled(librarian, namespace, {"session_id": "second", "cwd": "/srv/shop"})
    assert pack.startswith(f"<{turn.FENCE} ")
    assert "We deploy on Thursdays now." in pack
    assert "staging goes away in May. [memory: " in pack
    assert turn.stripped(pack) == ""
    assert "Said last" not in await _recalled(librarian, namespace, {**said})
