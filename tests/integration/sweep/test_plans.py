"""Applying a saved plan: exactly what it lists, and nothing that has changed since."""

import msgspec
import pytest

from librarian.base.errors import Conflict, InvalidInput
from librarian.base.strictjson import decode
from librarian.items.contracts import DeleteInput, LinkInput
from librarian.sweep.contracts import SweepReport


@pytest.fixture
async def plan(sweep, memories):
    """A saved plan of the memories, read again."""
    return decode(msgspec.json.encode(await sweep(dry_run=True)), SweepReport)


@pytest.fixture
def edit(librarian, namespace):
    """Changes the text of a memory as a human would."""

    async def run(uid: str, text: str):
        return await librarian.patch_item(namespace, uid, {"text": text})

    return run


@pytest.fixture
def delete(librarian, namespace):
    """Deletes a memory."""

    async def run(uid: str):
        asked = DeleteInput(uids=[uid])
        preview = await librarian.delete_items(namespace, asked)
        await librarian.delete_items(namespace, msgspec.structs.replace(asked, confirm_token=preview.confirm_token))

    return run


async def test_a_plan_is_applied_as_it_is(sweep, plan, ingest, memory, stored, librarian, namespace):
    """All that it lists and no more: a memory that came later is left alone. It is undone like any other sweep."""
    await ingest({"kind": "memory", "uid": "late", "text": "Decision: we ship late."}, embed=False)
    before = await stored()
    done = await sweep(plan=plan)
    assert (done.summary, done.plan) == (plan.summary, plan.sweep_id)
    assert {(one.memory_id, one.action) for one in done.changes} == {
        (one.memory_id, one.action) for one in plan.changes
    }
    assert all(one.state == "planned" for one in plan.changes), "the caller's plan is not written into"
    assert (await memory("late"))["type"] is None
    await librarian.undo_sweep(namespace, done.sweep_id)
    assert await stored() == before


async def test_what_has_changed_since_is_refused_one_by_one(sweep, plan, edit, delete, memory):
    """An edited memory keeps its edit, a deleted one stays deleted, both are reported, and the rest is done."""
    await edit("decision", "Decision: we chose MariaDB after all.")
    await delete("link")
    done = await sweep(plan=plan)
    refused = {(one.memory_id, one.action, one.reason) for one in done.refused}
    assert refused == {
        ("decision", "retype", "changed"), ("decision", "template", "changed"),
        ("link", "retype", "deleted"),
    }  # fmt: skip
    assert done.findings.refused == 3
    assert (await memory("decision"))["text"] == "Decision: we chose MariaDB after all."
    assert (await memory("problem"))["type"] == "Problem"


async def test_an_edge_is_refused_with_either_end(sweep, plan, edit):
    """Its quotes were read off two texts: when one of them is another, it proves nothing."""
    await edit("problem", "Problem: nothing failed.")
    done = await sweep(plan=plan)
    assert ("cause", "causal_edge", "changed") in {(one.memory_id, one.action, one.reason) for one in done.refused}
    assert done.summary.causal_edges_created == 0


async def test_a_human_s_edge_that_came_between_stands(sweep, plan, librarian, namespace, stored):
    """The plan's edge would contradict it, and is not drawn."""
    await librarian.link(namespace, LinkInput(source="problem", type="BLOCKS", target="cause"))
    done = await sweep(plan=plan)
    assert done.summary.causal_edges_created == 0
    _, edges = await stored()
    assert [(edge["source"], edge["type"]) for edge in edges] == [("problem", "BLOCKS")]


async def test_a_plan_is_applied_once(sweep, plan, stored):
    """All of its changes are made already, and so refused as changed since."""
    await sweep(plan=plan)
    after = await stored()
    again = await sweep(plan=plan)
    assert (again.summary.memories_retyped, again.summary.memories_templated) == (0, 0)
    assert await stored() == after


async def test_a_plan_is_resumed_with_itself(sweep, many, interrupted, shape, uninterrupted, namespace):
    """An interrupted application goes on by the same plan; another one, or none, is refused."""
    await many()
    plan = await sweep(dry_run=True)
    plan = decode(msgspec.json.encode(plan), SweepReport)
    sweep_id = await interrupted(1, plan=plan)
    with pytest.raises(Conflict, match="another plan"):
        await sweep(resume=sweep_id)
    done = await sweep(resume=sweep_id, plan=plan)
    assert done.summary == plan.summary
    assert await shape(namespace) == uninterrupted[1]


async def test_what_changed_after_a_sweep_is_kept_by_its_undo(
    sweep, memories, edit, memory, stored, librarian, namespace
):
    """A human's later word stands and is reported; everything else goes back."""
    before = {item["uid"]: item["memory"] for item in (await stored())[0]}
    done = await sweep()
    await edit("decision", "Decision: we chose MariaDB after all.")
    out = await librarian.undo_sweep(namespace, done.sweep_id)
    assert {(one.memory_id, one.action) for one in out.kept} == {("decision", "retype"), ("decision", "template")}
    assert (await memory("decision"))["text"] == "Decision: we chose MariaDB after all."
    assert await memory("problem") == before["problem"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"dry_run": False}, "not a plan"),
        ({"namespace": "elsewhere"}, "another namespace"),
        ({"changes_left_out": 3}, "incomplete plan"),
    ],
)
async def test_what_is_no_plan_of_here_is_refused(sweep, plan, stored, change, said):
    """With what is wrong with it, and nothing changed."""
    before = await stored()
    with pytest.raises(InvalidInput, match=said):
        await sweep(plan=msgspec.structs.replace(plan, **change))
    assert await stored() == before


async def test_a_plan_cannot_be_widened(sweep, plan):
    """It has its scope, and is no dry run."""
    with pytest.raises(InvalidInput, match="scope"):
        await sweep(plan=plan, domains=["ops"])
    with pytest.raises(InvalidInput, match="dry run"):
        await sweep(plan=plan, dry_run=True)
