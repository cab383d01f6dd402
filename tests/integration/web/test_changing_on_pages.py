"""Keeping and changing items on the web page, each with a way back."""

import pytest
from playwright.async_api import expect

from tests.integration.web.test_pages_in_chromium import violations

ROWS = (
    {"kind": "memory", "uid": "cause", "text": "The pool had three connections.", "type": "Problem"},
    {"kind": "memory", "uid": "effect", "text": "The billing page was slow on Monday."},
    {"kind": "fact", "uid": "pool", "text": "The pool has three connections.", "person_id": "billing"},
)


@pytest.fixture
async def desk(keys, namespace, ingest):
    """A key that may read and write in a namespace with two memories and a fact."""
    await ingest(*ROWS, embed=False)
    return keys.create("writer", namespaces=[namespace], scopes=["read", "write"])[1]


async def test_what_is_kept_can_be_taken_back_and_kept_again(opened, desk):
    """Forgetting shows what would go, and asks."""
    async with opened(desk) as page:
        await page.locator(".keep summary").click()
        await page.locator("#kept").fill("Backups run at four.")
        await page.get_by_role("button", name="Remember").click()
        await expect(page.locator(".said")).to_have_text("It is kept.")
        await expect(page.locator(".text").first).to_have_text("Backups run at four.")
        item = page.url.partition("&said")[0]
        await page.get_by_role("button", name="Undo").click()
        await expect(page.locator("main")).to_contain_text("This would go:")
        await page.get_by_role("button", name="Yes, forget it").click()
        await expect(page.locator(".said")).to_have_text("It is forgotten.")
        await page.get_by_role("button", name="Undo").click()
        await expect(page.locator(".said")).to_have_text("It is kept.")
        assert page.url.partition("&said")[0] == item


async def test_an_edit_is_undone_and_a_correction_leads_to_what_holds_now(opened, desk, librarian, namespace):
    """A memory keeps its old text as a revision; a fact is superseded."""
    async with opened(desk, "/items/effect") as page:
        await page.get_by_role("link", name="Change …").click()
        await page.locator("#text").fill("The billing page was slow on Tuesday.")
        await page.get_by_role("button", name="Save").click()
        await expect(page.locator(".text").first).to_have_text("The billing page was slow on Tuesday.")
        await page.get_by_role("button", name="Undo").click()
        await expect(page.locator(".text").first).to_have_text("The billing page was slow on Monday.")
        await page.goto("/items/pool/change")
        await page.locator("#truth").fill("The pool has ten connections.")
        await page.get_by_role("button", name="Correct").click()
        await expect(page.locator(".text").first).to_have_text("The pool has ten connections.")
        assert "/items/pool" not in page.url
    assert (await librarian.get_item(namespace, "pool")).text == "The pool has three connections."


async def test_a_form_that_is_out_of_date_changes_nothing(opened, desk, librarian, namespace):
    """Somebody else has changed the item since it was shown."""
    async with opened(desk, "/items/effect/change") as page:
        await librarian.patch_item(namespace, "effect", {"text": "Of somebody else."})
        await page.locator("#text").fill("Too late.")
        await page.get_by_role("button", name="Save").click()
        await expect(page.locator("h1")).to_have_text("Precondition Failed")
    assert (await librarian.get_item(namespace, "effect")).text == "Of somebody else."


async def test_an_edge_is_drawn_removed_and_drawn_again(opened, desk):
    """Each step leads to the next; what was said of the edge comes back with it."""
    async with opened(desk, "/items/cause/change") as page:
        await page.locator("#target").fill("effect")
        await page.locator("#because").fill("Rui says so.")
        await page.get_by_role("button", name="Link").click()
        await expect(page.locator(".said")).to_have_text("The edge is drawn.")
        await page.get_by_role("button", name="Unlink").click()
        await expect(page.locator(".said")).to_have_text("The edge is gone.")
        await page.get_by_role("button", name="Undo").click()
        await expect(page.locator(".said")).to_have_text("The edge is drawn.")
        await expect(page.locator("main")).to_contain_text("Rui says so.")


async def test_scope_decides_what_is_offered_and_what_is_done(opened, client, logged_in, keys, desk, namespace):
    """A key that may only read is shown no form; one that may not read is shown nothing by one."""
    _, reading = keys.create("reading", namespaces=[namespace], scopes=["read"])
    async with opened(reading, "/items/effect") as page:
        assert await page.get_by_role("link", name="Change …").count() == 0
        await page.goto("/")
        assert await page.locator(".keep").count() == 0
    _, writing = keys.create("writing", namespaces=[namespace], scopes=["write"])
    for key in (reading, writing):
        await logged_in(key)
        token = (await client.get("/health")).text.split('name="token" value="')[1].split('"')[0]
        answer = await client.post("/items/effect/forget", data={"token": token})
        assert (answer.status_code, "slow" in answer.text) == (403, False)


async def test_no_page_that_changes_shuts_anybody_out(opened, desk):
    """axe finds no violation on the forms."""
    async with opened(desk, "/items/effect/change") as page:
        assert await violations(page, {}) == []
