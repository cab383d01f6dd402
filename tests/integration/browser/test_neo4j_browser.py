"""Neo4j Browser as an analyst meets it, in a real Chromium: one link, the guide, the style, the saved queries.

TEST_ARTEFACTS names a folder that keeps a picture of every query; without it they lie among pytest's temporary files.
"""

import base64
import os
import re
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, expect
from playwright.async_api import TimeoutError as PageTimeout

from librarian.analyst.browser_pack.pack import pack_file, saved_queries
from librarian.cli.browser_link import guide_of
from tests.integration.browser_kit import chromium, new_page

expect.set_options(timeout=30_000)  # only the absence of something fails a test, never its pace
OUTCOME = re.compile(r"Displaying \d+ nodes|streaming \d+ records|no changes, no records|Neo\.[A-Z]\w+Error")
FOUND = re.compile(r"Displaying [1-9]\d* nodes|streaming [1-9]\d* records")
SAID = """([command, outcome]) => {
  const shown = document.querySelector('[data-testid=frame]')?.innerText ?? '';
  return shown.includes(command) && shown.match(outcome)?.[0];
}"""
# What the legend says of each label of nodes, by its colour.
LEGEND = """frame => Object.fromEntries(
  [...frame.querySelectorAll('[data-testid^=property-details-overview-node-label-]')].map(chip =>
    [chip.dataset.testid.split('-').pop(), getComputedStyle(chip).color]))"""
ADD_FILE = """([content, name]) => {
  const bytes = Uint8Array.from(atob(content), letter => letter.charCodeAt(0));
  const dropped = new DataTransfer();
  dropped.items.add(new File([bytes], name));
  return dropped;
}"""
_CLICKS = 3
# As a proxy might add it: the page may speak to the database, and not to the service.
STRICT = """new MutationObserver((_, observer) => {
  if (!document.head) return;
  observer.disconnect();
  const policy = document.createElement('meta');
  policy.httpEquiv = 'Content-Security-Policy';
  policy.content = "connect-src 'self' ws://127.0.0.1:* http://127.0.0.1:*";
  document.head.prepend(policy);
}).observe(document, {childList: true, subtree: true})"""


@dataclass(frozen=True, slots=True)
class Desk:
    """One page with the Browser in it, logged in."""

    page: Page
    pictures: Path

    @property
    def frame(self) -> Locator:
        """The latest result, or the guide."""
        return self.page.get_by_test_id("frame").first

    async def log_in(self, link: str, password: str) -> None:
        """Open the link as `librarian server browser` does."""
        await self.page.goto(link)
        await self.page.get_by_test_id("password").fill(password)
        await self.page.get_by_test_id("connect").click()
        await expect(self.page.get_by_text("You are connected as user")).to_be_visible()

    async def run(self, text: str) -> None:
        """Type into the editor, and run it."""
        await self.page.get_by_test_id("activeEditor").locator(".monaco-editor").first.click()
        await self.page.keyboard.press("Control+A")
        await self.page.keyboard.insert_text(text)
        await self.page.keyboard.press("Control+Enter")

    async def run_favourite(self, title: str) -> str:
        """Run a favourite; return its outcome. The page may draw itself anew under a click, which is lost then."""
        for _ in range(_CLICKS):
            await self.run(":clear")
            await self.page.get_by_text(title, exact=True).click()
            with suppress(AssertionError, PageTimeout):
                await expect(self.page.get_by_test_id("activeEditor")).to_contain_text(title)
                await self.page.get_by_test_id("editor-Run").click()
                return await self.outcome(title)
        raise AssertionError(f"{title} does not run")

    async def click(self, text: str) -> None:
        """Click the triangle of the guide's block that holds `text`."""
        await self.page.locator("pre.runnable", has_text=text).first.locator("i").click()

    async def drop(self, name: str, content: bytes) -> None:
        """Drop a file on the window."""
        dropped = await self.page.evaluate_handle(ADD_FILE, [base64.b64encode(content).decode(), name])
        await self.page.dispatch_event(".filedrop", "drop", {"dataTransfer": dropped})

    async def outcome(self, command: str) -> str:
        """Return the text of the latest frame, which is of `command`."""
        said = await self.page.wait_for_function(SAID, arg=[command, OUTCOME.pattern], polling=50)
        return await said.json_value()

    async def picture(self, name: str) -> None:
        """Keep a picture of the latest frame as it is."""
        await self.frame.screenshot(path=self.pictures / f"{name}.png")


@pytest.fixture(scope="session")
def pictures(tmp_path_factory):
    """The folder of the pictures."""
    folder = Path(os.environ.get("TEST_ARTEFACTS") or tmp_path_factory.mktemp("pictures")) / "neo4j-browser"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
async def browser():
    async with chromium() as running:
        yield running


@pytest.fixture
def desk(browser, neo4j_place, password, service, shelf, pictures):
    """Opens the link in a fresh page, which reaches this machine only, and logs in."""

    @asynccontextmanager
    async def open_desk(script=""):
        async with new_page(browser, [], viewport={"width": 1280, "height": 860}) as page:
            await page.add_init_script(script)
            opened = Desk(page, pictures)
            await opened.log_in(neo4j_place.link(guide_of(service, shelf)), password)
            yield opened

    return open_desk


async def test_the_link_leads_from_the_guide_to_the_causes_in_their_colours(desk, shelf):
    """The guide opens by itself; clicks load the style, set the parameters, and draw the causes of the sample."""
    async with desk() as opened:
        await expect(opened.page.get_by_role("heading", name="From a question to its cause")).to_be_visible()
        await opened.picture("guide")
        await opened.click(":style ")
        await expect(opened.frame).to_contain_text("node.Memory")
        await opened.click(":param namespace")
        await expect(opened.frame).to_contain_text(f'"namespace": "{shelf}"')
        for _ in range(2):
            await opened.page.get_by_test_id("nextSlide").click()
        await opened.click(":param uid")
        await expect(opened.frame).to_contain_text("mem-deploy-failed")
        for _ in range(2):
            await opened.page.get_by_test_id("nextSlide").click()
        await opened.click("-[:CAUSES*1..6]->(:Item")
        assert FOUND.match(await opened.outcome("MATCH path"))
        await expect(opened.frame.locator("g.node text", has_text="Chart clean-up")).to_have_count(1)
        await expect(opened.frame.locator("g.relationship text", has_text="CAUSES").first).to_be_attached()
        circles = await opened.frame.locator("g.node > circle.b-outline").all()
        assert {await circle.get_attribute("fill") for circle in circles} == {"#FFD166"}
        await opened.picture("causes")


async def test_every_saved_query_runs_from_the_favourites(desk, shelf):
    """The archive becomes folders of favourites; each runs, finds something in the sample, and leaves a picture. The
    legend tells kinds, and no label that only indexes need.
    """
    async with desk() as opened:
        await opened.drop("analyst.grass", pack_file("analyst.grass", base_url="", namespace=""))
        await expect(opened.frame).to_contain_text("node.Memory")
        await opened.drop("saved-queries.zip", pack_file("saved-queries.zip", base_url="", namespace=""))
        parameters = {name: value for query in saved_queries() for name, value in query.parameters.items()}
        for name, value in (parameters | {"namespace": shelf}).items():
            await opened.run(f":param {name} => '{value}'")
            await expect(opened.frame).to_contain_text(f'"{name}": "{value}"')
        await opened.page.get_by_test_id("navigationFavorites").click()
        outcomes = {}
        for folder, queries in groupby(saved_queries(), key=lambda query: query.folder):
            await opened.page.get_by_text(f"Librarian {folder.replace('-', ' ')}").click()
            for query in queries:
                outcomes[query.name] = await opened.run_favourite(query.title)
                await opened.picture(query.name)
            await opened.page.get_by_text(f"Librarian {folder.replace('-', ' ')}").click()
        await opened.run(next(query.text for query in saved_queries() if query.name == "causal-picture"))
        assert FOUND.match(await opened.outcome("The causal picture"))
        colours = await opened.frame.evaluate(LEGEND)
        assert colours["CjkText"] == "rgba(0, 0, 0, 0)"
        assert {label for label, colour in colours.items() if colour != "rgba(0, 0, 0, 0)"} == {
            "*", "Item", "Memory", "Fact", "Message",
        }  # fmt: skip
    assert {name: said for name, said in outcomes.items() if not FOUND.match(said)} == {}
    assert len(outcomes) == len(saved_queries())


async def test_a_browser_that_is_kept_from_the_service_still_takes_the_pack_by_hand(desk, shelf):
    """A policy that forbids the guide is said on the page; files that were saved load by dropping them."""
    async with desk(STRICT) as opened:
        await expect(opened.page.get_by_test_id("frame").last).to_contain_text("No guide by that name")
        await opened.page.screenshot(path=opened.pictures / "kept-from-the-service.png")
        assert await opened.page.get_by_role("heading", name="From a question to its cause").count() == 0
        await opened.drop("analyst.grass", pack_file("analyst.grass", base_url="", namespace=""))
        await expect(opened.frame).to_contain_text("node.Memory")
        await opened.drop("saved-queries.zip", pack_file("saved-queries.zip", base_url="", namespace=""))
        await opened.page.get_by_test_id("navigationFavorites").click()
        await expect(opened.page.get_by_text("Librarian 4 causes")).to_be_visible()
        await opened.run(f":param namespace => '{shelf}'")
        await expect(opened.frame).to_contain_text(shelf)
        await opened.run(next(query.text for query in saved_queries() if query.name == "kinds-of-items"))
        assert FOUND.match(await opened.outcome("What is in here"))
