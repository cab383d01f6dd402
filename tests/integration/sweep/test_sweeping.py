"""A sweep from the plan to its undoing."""


async def test_a_dry_run_changes_nothing(sweep, memories, stored):
    """The plan lists what a sweep would do, and nothing is written."""
    before = await stored()
    report = await sweep(dry_run=True)
    assert report.dry_run
    assert report.summary.memories_scanned == len(memories)
    assert await stored() == before


async def test_a_sweep_does_what_its_dry_run_says(sweep, memories, stored, librarian, namespace):
    """Summary and changes of both are the same."""
    planned, done = await sweep(dry_run=True), await sweep()
    assert done.summary == planned.summary


async def test_undoing_restores_what_was(sweep, memories, stored, librarian, namespace):
    """Every memory and edge is as it was before the sweep."""
    before = await stored()
    done = await sweep()
    assert await stored() != before
    await librarian.undo_sweep(namespace, done.sweep_id)
    assert await stored() == before
