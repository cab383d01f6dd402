"""The web page over the shipped sample: time until Chromium shows a search, by its own navigation timing.

Each search is a navigation of a logged-in visitor: request, search with explanations, page, styles, script, layout.
"""

import json
import os
import shutil
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from playwright.async_api import Page, async_playwright

from benchmarks.common import Timing, disposable, main, progress, report, timing
from benchmarks.serving import served
from librarian.items.room import SAMPLE_NAMESPACE

RUNS = int(os.environ.get("LIBRARIAN_BENCH_RUNS", "60"))
WARMUP = 12
TARGET_MS = 300
# Milliseconds since the start of the navigation; painted: the first content is on the screen.
_TIMES = """() => {
  const [page] = performance.getEntriesByType("navigation");
  const [paint] = performance.getEntriesByName("first-contentful-paint");
  return {answered: page.responseEnd, painted: paint ? paint.startTime : page.loadEventEnd, shown: page.loadEventEnd};
}"""


async def shown(page: Page, query: str) -> dict[str, float]:
    """Navigate to a search and read the browser's clock once everything is loaded."""
    asked = urlencode({"ns": SAMPLE_NAMESPACE, "q": query})
    await page.goto(f"/?{asked}", wait_until="load")
    await page.locator("#hits").wait_for(state="attached")  # empty if there are no hits
    await page.wait_for_function("performance.getEntriesByType('navigation')[0].loadEventEnd > 0")
    times: dict[str, float] = await page.evaluate(_TIMES)
    return times


async def log_in(page: Page, key: str) -> None:
    """Start a session."""
    await page.goto("/login")
    await page.locator("#key").fill(key)
    await page.locator("main button").click()
    await page.wait_for_url(lambda url: "/login" not in url)


async def searches(url: str, key: str) -> list[dict[str, float]]:
    """Return the times of `RUNS` searches with the sample's questions, English and Japanese, after unmeasured ones."""
    lines = (files("librarian.items") / "sample" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines]
    program = shutil.which("chromium")
    if program is None:
        raise SystemExit("This benchmark needs Chromium.")
    async with async_playwright() as driver:
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = await driver.chromium.launch(executable_path=program, args=root)
        page = await browser.new_page(base_url=url)
        await log_in(page, key)
        measured = []
        for run in range(WARMUP + RUNS):
            progress(f"search {run} of {WARMUP + RUNS}")
            measured.append(await shown(page, questions[run % len(questions)]))
        await browser.close()
    return measured[WARMUP:]


async def benchmark() -> None:
    """Load the sample, serve it, search in a browser."""
    async with disposable() as (librarian, settings):
        await librarian.load_sample()
        await librarian.embed_pending()
        async with served(settings, LIBRARIAN_RATE_LIMIT="off") as (url, key):
            measured = await searches(url, key)
        rows: list[Timing] = [
            timing("search answered (last byte)", [page_times["answered"] for page_times in measured]),
            timing("first content painted", [page_times["painted"] for page_times in measured]),
            timing("search shown (load event)", [page_times["shown"] for page_times in measured]),
        ]
        facts: dict[str, Any] = {"target_p95_ms": TARGET_MS, "within_target": rows[-1].p95_ms <= TARGET_MS}
        report("web", rows, **facts)


if __name__ == "__main__":
    main(benchmark)
