"""Keeping and changing items on the web page, each with a way back."""

import html

import httpx
import pytest
from msgspec import structs
from playwright.async_api import expect

from graph.item import UNKNOWN_TIME
from librarian.base.errors import NotFound
from librarian.items.contracts import EdgeQuery, ItemOut, ItemQuery, MemoryIn
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


def without_clock(item: ItemOut) -> ItemOut:
    """The item without when it was stored."""
    said = {name: value for name, value in item.properties.items() if name != "updated_at"}
    return structs.replace(item, created_at=UNKNOWN_TIME, properties=said)


async def test_what_was_forgotten_comes_back_with_all_that_it_said(opened, desk, librarian, namespace, ingest):
    """A fact keeps its parts, times, evidence and tags; a memory its author and importance; edges that were accepted
    are drawn again.
    """
    await ingest(
        {
            "kind": "message",
            "uid": "said",
            "text": "We took the small pool.",
            "author": "Rui",
            "sent_at": "2026-02-01T09:00:00Z",
        },
        {"kind": "fact", "uid": "size", "subject": "pool", "predicate": "has size", "object": "3", "tags": ["db"]}
        | {
            "domain": "billing",
            "valid_from": "2026-02-01T00:00:00Z",
            "valid_to": "2026-03-01T00:00:00Z",
            "confidence": 0.9,
        }
        | {"attributes": {"unit": "connections"}, "evidence": ["said"]},
        {
            "kind": "memory",
            "uid": "why",
            "text": "Small pools starve.",
            "type": "Insight",
            "importance": 7,
            "tags": ["x"],
        }
        | {"importance": 7, "agent": "ada", "source": "chat", "occurred_at": "2026-02-02T00:00:00Z", "name": "Pools"},
        {"kind": "edge", "source": "why", "target": "effect", "type": "CAUSES", "reason": "Rui says so."},
        embed=False,
    )
    for uid in ("size", "why", "said"):
        before = await librarian.get_item(namespace, uid)
        edges = await librarian.list_edges(namespace, EdgeQuery(uid=uid))
        async with opened(desk, f"/items/{uid}/change") as page:
            await page.get_by_role("button", name="Show what would go").click()
            await page.get_by_role("button", name="Yes, forget it").click()
            await page.get_by_role("button", name="Undo").click()
            await expect(page.locator(".said")).to_have_text("It is kept.")
        after = await librarian.get_item(namespace, uid)
        assert without_clock(after) == without_clock(before)
        again = await librarian.list_edges(namespace, EdgeQuery(uid=uid))
        assert [(edge.edge_id, edge.reason) for edge in again.edges] == [
            (edge.edge_id, edge.reason) for edge in edges.edges
        ]
    assert [source.uid for source in (await librarian.get_item(namespace, "size")).evidence] == ["said"]


NOTE = """---
type: Decision
tags: [db]
---
# The pool
The pool has {count} connections."""


async def test_a_file_is_shown_kept_and_taken_back(opened, desk, librarian, namespace):
    """Nothing is kept before somebody has seen it; an undo removes what was added and restores what was changed."""

    async def upload(page, name: str, text: str) -> None:
        await page.goto("/upload")
        await page.locator("#file").set_input_files({"name": name, "mimeType": "text/plain", "buffer": text.encode()})
        await page.get_by_role("button", name="Show what it holds").click()

    async def texts() -> list[str]:
        listed = await librarian.list_items(namespace, ItemQuery(types=["Decision"]))
        return [item.text for item in listed.items]

    async with opened(desk) as page:
        await page.locator(".keep summary").click()
        await page.get_by_role("link", name="Upload a file").click()
        assert await violations(page, {}) == []
        await upload(page, "pool.md", NOTE.format(count=3))
        await expect(page.locator("main")).to_contain_text("The pool has 3 connections.")
        assert await violations(page, {}) == []
        assert await texts() == []
        await page.get_by_role("button", name="Yes, keep it").click()
        await expect(page.locator(".said")).to_have_text("It is kept.")
        assert await violations(page, {}) == []
        assert await texts() == ["# The pool\nThe pool has 3 connections."]
        await upload(page, "pool.md", NOTE.format(count=3))
        await expect(page.locator("main")).to_contain_text("There is nothing new in it.")
        await upload(page, "pool.md", NOTE.format(count=10))
        await page.get_by_role("button", name="Yes, keep it").click()
        assert await texts() == ["# The pool\nThe pool has 10 connections."]
        await page.get_by_role("button", name="Undo").click()
        await expect(page.locator(".said")).to_have_text("It is undone.")
        assert await texts() == ["# The pool\nThe pool has 3 connections."]
        await upload(page, "new.txt", "Backups run at four.")
        await page.get_by_role("button", name="Yes, keep it").click()
        uid = await page.locator("main li a").first.inner_text()
        assert (await librarian.get_item(namespace, uid)).text == "Backups run at four."
        await page.get_by_role("button", name="Undo").click()
        await expect(page.locator(".said")).to_have_text("It is undone.")
        with pytest.raises(NotFound):
            await librarian.get_item(namespace, uid)


async def test_what_was_changed_since_an_upload_stays(librarian, namespace):
    """An undo takes back its own."""
    rows = [MemoryIn(uid="a", text="One."), MemoryIn(uid="b", text="Two.")]
    report, steps = await librarian.items.keep_rows(namespace, rows)
    assert (report.added, [step.before for step in steps]) == (2, [None, None])
    await librarian.patch_item(namespace, "b", {"text": "Two, of somebody else."})
    assert await librarian.items.take_back(namespace, steps) == 1
    with pytest.raises(NotFound):
        await librarian.get_item(namespace, "a")
    assert (await librarian.get_item(namespace, "b")).text == "Two, of somebody else."


@pytest.mark.parametrize("path", ["/upload", "/upload/keep", "/upload/undo", "/items/effect/again"])
async def test_nobody_uploads_without_the_scope_or_the_token(client, logged_in, keys, desk, namespace, path):
    """A key that only reads is refused, and so is a form of another site."""
    _, reading = keys.create("reading", namespaces=[namespace], scopes=["read"])
    for key, name in ((reading, "token"), (desk, "other")):
        await logged_in(key)
        token = (await client.get("/health")).text.split('name="token" value="')[1].split('"')[0]
        answer = await client.post(path, data={name: token}, files={"file": ("a.md", b"Text.")})
        assert answer.status_code == 403


async def test_only_who_forgot_an_item_takes_it_back(client, logged_in, keys, desk, librarian, namespace):
    """Lifting a tombstone takes the scope admin; an undo is signed for the session, the item and its row."""
    _, other = keys.create("other writer", namespaces=[namespace], scopes=["read", "write"])

    async def post(path: str, **fields: str) -> httpx.Response:
        token = (await client.get("/health")).text.split('name="token" value="')[1].split('"')[0]
        sent = {name: (None, value) for name, value in ({"token": token} | fields).items()}
        if path.endswith("again"):
            return await client.post(path, files=sent, params={"ns": namespace})
        return await client.post(path, data={"token": token} | fields, params={"ns": namespace})

    def field(page: str, name: str) -> str:
        return html.unescape(page.split(f'name="{name}" value="')[1].split('"', maxsplit=1)[0])

    await logged_in(desk)
    preview = await post("/items/effect/forget")
    done = await post("/items/effect/forget", confirm_token=field(preview.text, "confirm_token"))
    given = {name: field(done.text, name) for name in ("row", "edges", "undo")}
    changed = given | {"row": given["row"].replace('"text":"', '"text":"Not ')}
    assert changed != given
    for wrong in (changed, given | {"undo": ""}):
        assert (await post("/items/effect/again", **wrong)).status_code == 403
    await logged_in(other)
    assert (await post("/items/effect/again", **given)).status_code == 403
    with pytest.raises(NotFound):
        await librarian.get_item(namespace, "effect")
    await logged_in(desk)
    assert (await post("/items/effect/again", **given)).status_code == 403  # another session of the same key


async def test_facts_that_may_replace_others_are_decided_on_the_page_of_reviews(
    client, logged_in, desk, librarian, ingest, namespace
):
    """Both are named; accepted, the older one ends, and the page offers to decide otherwise."""
    said = {"kind": "fact", "subject": "Ana", "predicate": "has"}
    await ingest(said | {"uid": "dog", "object": "a dog", "valid_from": "2026-01-01T00:00:00Z"}, embed=False)
    await ingest(said | {"uid": "bike", "object": "a bike", "valid_from": "2026-02-01T00:00:00Z"}, embed=False)
    await logged_in(desk)
    where = {"ns": namespace, "sort": "supersede"}
    shown = (await client.get("/reviews", params=where)).text
    for told in ("/items/bike", "/items/dog", "<b>supersedes</b>", "may have one value at a time"):
        assert told in shown
    token, review = (shown.split(f'name="{name}" value="')[1].split('"')[0] for name in ("token", "review_id"))
    given = {"token": token, "review_id": review, "verdict": "accept"}
    assert (await client.post("/reviews", params=where, data=given)).status_code == 303
    assert str((await librarian.get_item(namespace, "dog")).properties["valid_to"]).startswith("2026-02-01")
    accepted = (await client.get("/reviews", params=where | {"state": "accepted"})).text
    assert "/items/dog" in accepted
    assert 'value="reject"' in accepted


async def test_a_form_that_cannot_be_read_is_said(client, logged_in, desk):
    """It is too large, of another type, or not what it says."""
    await logged_in(desk)
    large = await client.post("/upload", files={"file": ("a.md", b"x" * (9 * 2**20))})
    assert (large.status_code, "librarian ingest" in large.text) == (413, True)
    assert (await client.post("/upload", data={"token": "x"})).status_code == 415
    broken = await client.post("/upload", content=b"--", headers={"Content-Type": "multipart/form-data; boundary=x"})
    assert broken.status_code in (400, 403)


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
