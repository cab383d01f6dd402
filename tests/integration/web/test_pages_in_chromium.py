"""The web page as people see and use it, in a real Chromium over the shipped sample.

TEST_ARTEFACTS names a folder that keeps a picture of every page, light and dark, of a desktop and a phone.
"""

import os
import re
from pathlib import Path

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page, expect

from librarian.causal.contracts import CausalInput
from librarian.items.contracts import EdgeQuery, MemoryIn
from librarian.sweep.contracts import SweepQuery, SweepRequest

SWEEPS = SweepQuery(limit=1)
ODD_UID = "a<b>?#%25'\"&amp;"
HOSTILE = (
    '<script>document.title="owned"</script><img src=x onerror="document.title=\'owned\'">'
    '"><svg onload=alert(1)>{{ 7*7 }} </textarea></title>'
)


async def search(page: Page, query: str) -> None:
    await page.locator("#q").fill(query)
    await page.locator("#q").press("Enter")
    await page.locator("#hits").wait_for()


async def test_a_search_shows_hits_with_bars(opened, key, librarian, shelf):
    """Logging in leads to the search; a question for a reason begins with one, in words of its own; each hit shows what
    its place comes from, measured by one scale.
    """
    causes = await librarian.causes_of(shelf, CausalInput(uid="mem-deploy-failed"))
    async with opened(key) as page:
        await expect(page.locator("#q")).to_be_focused()
        await search(page, "why did the deploy fail?")
        hits = page.locator(".hit")
        assert await hits.count() == 10
        first = await hits.first.locator("h3 a").get_attribute("href")
        assert (first or "").split("?")[0].removeprefix("/items/") in {item.uid for item in causes.items}
        widths = [
            int(width or "0")
            for width in await page.locator(".bars tr:not(.similarity) .part").evaluate_all(
                "parts => parts.map(part => part.getAttribute('width'))"
            )
        ]
        assert max(widths) == 100
        assert all(1 <= width <= 100 for width in widths)
        assert await page.locator(".bars .similarity").count() == 10
        await expect(hits.first.locator(".bars")).to_be_hidden()
        await hits.first.locator(".why summary").click()
        assert re.search(r"means the same \d+", await hits.first.locator(".places").inner_text())
        assert any("fail" in mark for mark in await hits.locator("mark").all_inner_texts())


async def test_the_first_page_shows_what_is_here_and_what_happened_last(opened, key, librarian, shelf):
    """Counts lead to what they count; the list begins with what happened last, and goes on."""
    async with opened(key) as page:
        times = await page.locator(".hit time").evaluate_all("times => times.map(one => one.dateTime)")
        assert times == sorted(times, reverse=True)
        await expect(page.locator(".hit h3").first).to_be_in_viewport()
        months = await page.locator(".facets a", has_text=re.compile(r"^\d{4}-\d\d$")).all_inner_texts()
        assert months == sorted(months, reverse=True) != []
        held = (await librarian.namespaces({shelf}.__contains__)).namespaces[0].by_kind
        facts = page.locator(".facets li", has_text="fact")
        await expect(facts.locator(".number")).to_have_text(str(held["fact"]))
        await facts.locator("a").click()
        assert set(await page.locator(".hit .kind").all_inner_texts()) == {"fact"}
        first = await page.locator(".hit h3 a").first.get_attribute("href")
        await page.locator("a.more").click()
        assert await page.locator(".hit h3 a").first.get_attribute("href") != first


async def test_a_question_is_answered_with_its_sources(opened, key):
    """`Ask` puts an answer above the hits; each source leads to its item."""
    async with opened(key) as page:
        await page.locator("#q").fill("why did the deploy fail?")
        await page.get_by_role("button", name="Ask").click()
        await expect(page.locator(".answer .text").first).to_contain_text("chart clean-up")
        await page.locator(".answer footer a").first.click()
        await expect(page.locator("h1")).not_to_have_text("Search")


async def test_more_hits_are_asked_for_and_an_author_is_found_by_a_part_of_the_name(opened, key):
    """Up to what a search gives; asking for more is told in a sentence."""
    async with opened(key) as page:
        await page.locator(".search > details > summary").click()
        await page.locator("[name=author]").fill("ines")
        await search(page, "deploy")
        hits = page.locator("#hits > .hit")
        assert all("Inês Duarte" in said for said in await hits.locator(".meta").all_inner_texts())
        await page.goto("/?q=deploy")
        await page.locator("a.more").click()
        await expect(hits).to_have_count(20)
        await page.goto("/?q=deploy&limit=99")
        await expect(page.get_by_text("At most 50 hits are shown")).to_be_visible()
        await expect(hits).to_have_count(50)


async def test_a_namespace_that_holds_nothing_says_so_and_which_there_are(opened, keys, shelf):
    """A name with a typing error is no empty page."""
    _, key = keys.create("typing", namespaces=["typo", shelf], scopes=["read"])
    async with opened(key, "/?ns=typo") as page:
        await expect(page.get_by_text("The namespace typo holds nothing.")).to_be_visible()
        await page.locator("main").get_by_role("link", name=shelf).click()
        assert await page.locator(".hit").count() == 10


async def test_a_message_leads_through_its_conversation(opened, key):
    """To the turns beside it, to all of them in their order, and to what rests on it."""
    async with opened(key, "/items/msg-deploy-013") as page:
        await expect(page.locator("#cited ~ ul").last).to_contain_text("Chart clean-up lost two lines")
        await page.locator(".turns [rel=next]").click()
        await expect(page.locator(".text").first).to_contain_text("running at 14:00")
        await page.locator(".turns [rel=prev]").click()
        await page.get_by_role("link", name="The whole conversation").click()
        times = await page.locator(".hit time").evaluate_all("times => times.map(one => one.dateTime)")
        assert times == sorted(times)
        await expect(page.get_by_text("msg-deploy-013")).to_be_visible()


async def test_a_phone_shows_the_head_in_one_row_and_nothing_beside_the_page(opened, key):
    """Content that does not fit scrolls by itself."""
    async with opened(key, "/?q=deploy", viewport={"width": 375, "height": 700}) as page:
        head = await page.locator("header").bounding_box()
        assert head is not None
        assert head["height"] < 70
        for path in ("/?q=deploy", "/items/mem-chart-cleanup", "/health"):
            await page.goto(path)
            assert await page.evaluate("document.documentElement.scrollWidth") <= 375, path


async def test_filters_narrow_a_search(opened, key):
    """The search does what the form says, and the form keeps it."""
    async with opened(key) as page:
        await page.locator(".search summary").click()
        await page.locator("[name=kinds][value=fact]").check()
        await page.locator("[name=before]").fill("2026-02-28")
        await search(page, "deploy window")
        assert set(await page.locator(".hit .kind").all_inner_texts()) == {"fact"}
        assert await page.locator("[name=kinds][value=fact]").is_checked()
        days = await page.locator(".hit time").evaluate_all("times => times.map(one => one.dateTime.slice(0, 10))")
        assert days
        assert max(days) <= "2026-02-28"


async def test_an_item_shows_all_that_belongs_to_it(opened, key, librarian, shelf):
    """Text, evidence, revisions and edges of one item, each leading on."""
    await librarian.patch_item(shelf, "fact-kenji-role", {"text": "Kenji Mori looks after harbor-billing."})
    async with opened(key, "/items/fact-kenji-role") as page:
        await expect(page.locator("h1 + .meta + .text")).to_have_text("Kenji Mori looks after harbor-billing.")
        assert await page.locator("#evidence ~ blockquote").count() == 2
        await page.locator("#history ~ details summary").click()
        await expect(page.locator("#history ~ details .text")).to_contain_text("森健司")
        await page.goto("/items/mem-chart-cleanup")
        rows = page.locator("tr[data-edge]")
        assert await rows.count() >= 2
        await rows.filter(has_text="CAUSES").first.locator("td").nth(2).locator("a").click()
        await expect(page.locator("h1")).not_to_have_text("Chart clean-up lost two lines")


async def test_the_sections_of_a_memory_are_shown_by_their_names(opened, key, librarian, shelf):
    """Without the marks of their headings, on the item's page and in hits."""
    sections = "## CONTEXT\nThe quay.\n\n## OUTCOME\nTugs wait at the quay.\n\n## TAGS\n- type:Insight"
    await librarian.put_item(shelf, "mem-tugs", MemoryIn(text=sections))
    async with opened(key, "/items/mem-tugs") as page:
        assert await page.locator("strong.section").all_inner_texts() == ["Context", "Outcome", "Tags"]
        assert await page.locator("strong.section + .text").nth(1).inner_text() == "Tugs wait at the quay."
        await page.goto("/?q=tugs+wait+at+the+quay")
        first = page.locator(".hit", has=page.locator("a[href*=mem-tugs]"))
        assert "#" not in await first.locator(".excerpt").inner_text()


async def test_the_picture_is_used_by_keyboard(opened, key):
    """Arrows go from item to item, what is chosen is told, keys zoom, Enter opens an item."""
    async with opened(key, "/items/mem-chart-cleanup") as page:
        boxes = page.locator(".picture svg a")
        await boxes.first.focus()
        await expect(page.locator(".chosen")).to_contain_text("HRB-398")
        assert await page.locator("tr.lit").count() >= 2
        await page.keyboard.press("ArrowRight")
        name = await page.evaluate("document.activeElement.querySelector('text').textContent")
        assert not name.startswith("Chart clean-up")
        before = await page.locator(".picture svg").get_attribute("viewBox")
        await page.keyboard.press("+")
        assert await page.locator(".picture svg").get_attribute("viewBox") != before
        await page.keyboard.press("0")
        await page.keyboard.press("Enter")
        await page.wait_for_load_state()
        await expect(page.locator("h1")).to_contain_text(name.removesuffix("…"))


async def test_the_picture_is_used_by_mouse(opened, key):
    """A box is dragged and its edges follow; dragging beside boxes moves the paper; a click opens an item."""
    async with opened(key, "/items/mem-chart-cleanup") as page:
        await page.locator(".picture").scroll_into_view_if_needed()
        first = page.locator(".picture .item").first
        box = await first.bounding_box()
        assert box is not None
        lines = "lines => lines.map(line => ['x1', 'y1', 'x2', 'y2'].map(end => line.getAttribute(end)).join())"
        before = await page.locator(".picture .edge line").evaluate_all(lines)
        await page.mouse.move(box["x"] + 20, box["y"] + 10)
        await page.mouse.down()
        await page.mouse.move(box["x"] + 60, box["y"] + 90, steps=4)
        await page.mouse.up()
        assert "translate" in (await first.get_attribute("transform") or "")
        assert await page.locator(".picture .edge line").evaluate_all(lines) != before
        assert page.url.split("?")[0].endswith("/items/mem-chart-cleanup")
        view = await page.locator(".picture svg").get_attribute("viewBox")
        canvas = await page.locator(".picture .canvas").bounding_box()
        assert canvas is not None
        await page.mouse.move(canvas["x"] + 4, canvas["y"] + canvas["height"] - 6)
        await page.mouse.down()
        await page.mouse.move(canvas["x"] + 90, canvas["y"] + canvas["height"] - 40, steps=4)
        await page.mouse.up()
        assert await page.locator(".picture svg").get_attribute("viewBox") != view
        await page.locator(".picture svg a").nth(1).click()
        await expect(page).not_to_have_url(re.compile("mem-chart-cleanup"))


def content(path: Path) -> bytes:
    return path.read_bytes()


OVERLAPS = """explorer.nodes().not('.hidden').toArray().flatMap((a, i, all) => all.slice(i + 1).filter((b) =>
  Math.abs(a.position('x') - b.position('x')) < 150 && Math.abs(a.position('y') - b.position('y')) < 44)).length"""


async def test_the_explorer_widens_filters_and_saves_the_graph(opened, key):
    """It begins with the item and what is around it, without boxes on boxes; keys go on, files hold what is shown."""
    async with opened(key, "/items/mem-deploy-failed") as page:
        await page.get_by_role("link", name="Open in the explorer").click()
        await page.locator(".explorer.live").wait_for()
        await expect(page.locator(".about h2")).to_have_text("Failed deploy of 2026.2.3")
        before = await page.evaluate("explorer.nodes().length")
        types = await page.evaluate("[...new Set(explorer.edges().map((edge) => edge.data('type')))]")
        assert {"CAUSES", "EVIDENCE"} <= set(types)
        assert await page.evaluate(OVERLAPS) == 0
        assert await page.evaluate("explorer.zoom()") > 0.6  # names can be read
        await page.locator(".stage").focus()
        passed = set()
        for arrow in ("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"):
            await page.keyboard.press(arrow)
            passed.add(await page.locator(".about h2").inner_text())
        assert passed - {"Failed deploy of 2026.2.3"}
        # Its own causes are not in the picture yet.
        # An evaluation that returns a collection copies the whole graph of objects behind it: 20 s of processor time.
        await page.evaluate("void explorer.getElementById('mem-lock-queue').emit('tap')")
        chosen = await page.locator(".about h2").inner_text()
        await page.keyboard.press("Enter")
        await page.wait_for_function("count => explorer.nodes().length > count", arg=before)
        await expect(page.locator(".about h2")).to_have_text(chosen)
        assert await page.evaluate(OVERLAPS) == 0
        await expect(page.locator(".listed li")).to_have_count(await page.evaluate("explorer.nodes().length"))
        await page.locator("[name=type][value=EVIDENCE]").uncheck()
        shown = await page.evaluate("explorer.edges().not('.hidden').map((edge) => edge.data('type'))")
        assert "EVIDENCE" not in shown
        for form, begin in (("csv", b"source,type,target"), ("svg", b"<svg"), ("png", b"\x89PNG")):
            async with page.expect_download() as saving:
                await page.locator(f"[data-save={form}]").click()
            assert content(await (await saving.value).path()).startswith(begin), form


LABELS_ON_BOXES = """() => {
  const inside = { includeNodes: false, includeEdges: false, includeOverlays: false };
  const outside = { includeLabels: false, includeOverlays: false };
  const boxes = explorer.nodes().not('.hidden').map((node) => node.boundingBox(outside));
  return explorer.edges().not('.hidden').filter((edge) => {
    const label = edge.boundingBox(inside);
    return edge.style('label') && label.w > 0 &&
      boxes.some((box) => box.x1 < label.x2 && label.x1 < box.x2 && box.y1 < label.y2 && label.y1 < box.y2);
  }).map((edge) => edge.id());
}"""


async def test_no_label_of_an_edge_lies_on_a_box(opened, key):
    """One that would is left out, and comes back when its edge is chosen."""
    async with opened(key, "/explore/mem-deploy-failed") as page:
        await page.locator(".explorer.live").wait_for()
        assert await page.evaluate(LABELS_ON_BOXES) == []
        assert await page.evaluate("explorer.edges().not('.quiet').length") > 0
        await page.evaluate("void explorer.edges().addClass('quiet').first().select()")
        assert await page.evaluate("explorer.edges().first().style('label')") != ""
        assert await page.evaluate("explorer.edges()[1].style('label')") == ""


async def test_the_explorer_shows_when_facts_hold(opened, key):
    """A line for each fact, from its first day to its last; choosing it tells what it says."""
    async with opened(key, "/explore/fact-ines-oncall-march") as page:
        await page.locator(".explorer.live").wait_for()
        rows = page.locator(".periods tbody tr")
        line = rows.filter(has_text="Inês Duarte is on call")
        await expect(line.locator(".number")).to_have_text("2026-03-09 – 2026-03-16")
        assert float(await line.locator(".part").get_attribute("width") or 0) > 0
        await page.goto("/explore/msg-oncall-001")
        await page.locator(".explorer.live").wait_for()
        await expect(rows.filter(has_text="森健司").locator(".number")).to_have_text("2026-03-16 – 2026-03-23")
        await rows.filter(has_text="森健司").get_by_role("button").click()
        await expect(page.locator(".about")).to_contain_text("3月16日から23日まで")


async def test_an_edge_is_reviewed_with_a_reason(opened, key, keys, librarian, shelf, propose):
    """The list leads to the edge; accepting it by a key keeps the reason and who gave it."""
    edge_id, other = await propose(("mem-chart-cleanup", "mem-half-year"), ("mem-chart-cleanup", "mem-chart-snapshots"))
    async with opened(key, "/reviews?sort=edge") as page:
        await page.locator(f'a[href*="{edge_id}"]').click()
        await expect(page.locator(".side")).to_have_count(2)
        await page.locator("#reason").fill("Rui says so.")
        await page.locator("h1").click()
        await page.keyboard.press("a")
        await expect(page.locator(".said")).to_have_text("Accepted.")
        await expect(page.locator("#decision ~ blockquote")).to_have_text("Rui says so.")
        assert await page.locator(".decision").count() == 0
        await page.goto(f"/edges/{other}")
        await page.locator("button.less").click()
        await expect(page.locator(".said")).to_have_text("Rejected.")
    decided = await librarian.get_edge(shelf, edge_id)
    assert (decided.state, decided.review_reason) == ("accepted", "Rui says so.")
    assert decided.reviewed_by in {one.name for one in keys.list()}
    assert (await librarian.get_edge(shelf, other)).state == "rejected"


async def test_a_sweep_is_undone_after_a_question(opened, keys, librarian, namespace, ingest):
    """Undo asks first, and says what it took back; the page of the sweep then offers it no more."""
    text = "decision: we keep the old parser. Because the new one is slow, we decided so."
    await ingest({"kind": "memory", "uid": "swept", "text": text}, embed=False)
    await librarian.sweep(namespace, SweepRequest())
    assert (await librarian.get_item(namespace, "swept")).properties.get("type") == "Decision"
    _, key = keys.create("gardener", namespaces=[namespace], scopes=["read", "sweep"])
    async with opened(key, "/sweeps") as page:
        await page.locator("tbody a").click()
        assert await page.locator("tbody tr").count() >= 1
        await page.locator("a.button").click()
        await expect(page.locator(".said")).to_have_count(0)
        assert (await librarian.get_item(namespace, "swept")).properties.get("type") == "Decision"
        await page.locator("main form button").click()
        await expect(page.locator(".said")).to_have_text("It is undone.")
        assert "type" not in (await librarian.get_item(namespace, "swept")).properties
        await page.goto("/sweeps")
        await page.locator("tbody a").click()
        assert await page.locator("a.button").count() == 0


async def test_pages_speak_japanese(opened, key):
    """By what the browser asks for, or by a switch that is remembered; Japanese queries find Japanese texts."""
    async with opened(key, locale="ja-JP") as page:
        await expect(page.locator("html")).to_have_attribute("lang", "ja")
        await expect(page.locator("h1")).to_have_text("検索")
        await search(page, "請求書の不具合の原因は?")
        assert "請求書" in await page.locator("#hits").inner_text()
        assert await page.locator(".hit [lang=ja]").count() > 0
        await page.locator(".languages a[lang=en]").click()
        await expect(page.locator("h1")).to_have_text("Search")
        await expect(page.locator("#q")).to_have_value("請求書の不具合の原因は?")
        await page.goto("/health")
        await expect(page.locator("h1")).to_have_text("Health")


async def test_health_shows_what_is_stored(opened, key, shelf):
    """Whether requests are served, the checks, and the namespaces that the key opens, and no others."""
    async with opened(key, "/health") as page:
        await expect(page.locator(".said")).to_have_text("Requests are served.")
        told = await page.locator(".facts").first.inner_text()
        assert "encoder" in told
        assert "reranker" not in told  # nobody has configured one
        assert await page.locator("tbody th").all_inner_texts() == [shelf]


async def test_a_wrong_key_is_refused(opened):
    """It stays on the form, says why, and gives no session."""
    async with opened(None) as page:
        assert "/login" in page.url
        await page.locator("#key").fill("lib_wrong")
        await page.locator("main button").click()
        await expect(page.locator("[role=alert]")).to_be_visible()
        await page.goto("/health")
        assert "/login" in page.url


async def test_a_revoked_key_ends_its_sessions(opened, keys, shelf):
    """The next page of somebody who was logged in asks for a key again."""
    entry, key = keys.create("leaving", namespaces=[shelf], scopes=["read"])
    async with opened(key) as page:
        await search(page, "deploy")
        keys.revoke(entry.id)
        await page.reload()
        assert "/login" in page.url


async def test_hostile_texts_stay_texts(opened, keys, ingest, namespace):
    """Nothing that a memory says runs, in lists, on its page, in the picture, or in a form."""
    await ingest(
        {"kind": "memory", "uid": ODD_UID, "text": HOSTILE, "tags": [HOSTILE], "agent": HOSTILE},
        {"kind": "memory", "uid": "other", "name": HOSTILE, "text": "deploy \x00\u202e " + HOSTILE},
        {"kind": "edge", "source": "other", "target": ODD_UID, "type": "CAUSES", "reason": HOSTILE},
    )
    _, key = keys.create("victim", namespaces=[namespace], scopes=["read", "write"])
    async with opened(key) as page:
        await search(page, HOSTILE)
        await page.locator(".hit h3 a").first.click()
        await page.locator(".picture.live").wait_for()
        assert HOSTILE in await page.locator(".text").first.inner_text()
        await page.locator("tr[data-edge] td:nth-child(2) a").click()
        await expect(page.locator(".side")).to_have_count(2)
        assert await page.title() != "owned"
        assert await page.locator("main script, main img").count() == 0


async def test_a_person_with_a_keyboard_gets_everywhere(opened, key):
    """A link skips the head of the page, `/` goes to the search, j and k go through the hits."""
    async with opened(key, "/health") as page:
        await page.keyboard.press("Tab")
        await expect(page.locator(".skip")).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(page.locator("main")).to_be_focused()
        await page.keyboard.press("/")
        await page.wait_for_url(re.compile(r"/(\?|$)"))
        await page.keyboard.type("deploy")
        await page.keyboard.press("Enter")
        await page.locator("#hits").wait_for()
        await page.locator("h1").click()
        for _ in range(2):
            await page.keyboard.press("j")
        await expect(page.locator(".hit h3 a").nth(1)).to_be_focused()
        await page.keyboard.press("k")
        await page.keyboard.press("Enter")
        await expect(page.locator("#properties")).to_be_visible()
        await page.keyboard.press("/")
        await expect(page.locator("#q")).to_be_focused()


@pytest.mark.parametrize(("scheme", "options"), [("light", {}), ("dark", {"runOnly": ["color-contrast"]})])
async def test_no_page_shuts_anybody_out(opened, keys, librarian, shelf, propose, scheme, options):
    """axe finds no violation on any page: all of its rules in light, those about colours in dark."""
    await propose(("mem-chart-cleanup", "mem-tideline-v3-late"))
    edge = (await librarian.list_edges(shelf, EdgeQuery(states=["proposed"]))).edges[0]
    if not (sweeps := (await librarian.list_sweeps(shelf, SWEEPS)).sweeps):
        await librarian.sweep(shelf, SweepRequest(limit=30))
        sweeps = (await librarian.list_sweeps(shelf, SWEEPS)).sweeps
    sweep = f"/sweeps/{sweeps[0].sweep_id}"
    good = [
        "/?q=deploy&ask=true",
        "/",
        "/items/msg-deploy-013",
        "/explore/mem-chart-cleanup",
        "/explore/fact-ines-oncall-march",
        "/upload",
        "/items/mem-chart-cleanup",
        "/items/mem-chart-cleanup/change",
        f"/edges/{edge.edge_id}",
        "/reviews",
        "/sweeps",
        sweep,
    ]
    good += [f"{sweep}/undo", "/health", "/namespaces"]
    statuses = {**dict.fromkeys(good, 200), "/items/none": 404, "/nowhere?lang=ja": 404}
    _, key = keys.create("everybody", namespaces=[shelf, f"{shelf}:*"], scopes=["read", "write", "sweep"])
    async with opened(None, color_scheme=scheme) as page:
        found = {"/login": await violations(page, options)}
        await keep_pictures(page, f"login-{scheme}")
        await page.locator("#key").fill(key)
        await page.locator("main button").click()
        for path, status in statuses.items():
            answer = await page.goto(f"{path}{'&' if '?' in path else '?'}ns={shelf}")
            assert answer is not None
            assert (path, answer.status) == (path, status)
            found[path] = await violations(page, options)
            name = "answer" if "ask=" in path else path.strip("/").partition("?")[0].replace("/", "-") or "search"
            await keep_pictures(page, f"{name}-{scheme}")
    assert {path: rules for path, rules in found.items() if rules} == {}


async def keep_pictures(page: Page, name: str) -> None:
    """Keep the page as a desktop and a phone show it, where TEST_ARTEFACTS names a folder."""
    folder = os.environ.get("TEST_ARTEFACTS")
    before = page.viewport_size
    if folder is None or before is None:
        return
    for device, width in (("desktop", 1280), ("phone", 375)):
        await page.set_viewport_size({"width": width, "height": 900})
        await page.screenshot(path=f"{folder}/web/{name}-{device}.png", full_page=True)
    await page.set_viewport_size(before)


async def violations(page: Page, options: dict[str, object]) -> list[str]:
    results = await Axe().run(page, options={"resultTypes": ["violations"], **options})
    return [
        f"{one['id']}: {node['html'][:200]} {node.get('failureSummary', '')[:300]}"
        for one in results.response["violations"]
        for node in one["nodes"]
    ]
