"""A real Chromium for tests: the system's own, headless, driven by playwright."""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Browser, Page, async_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome")
# The browser says so of every answer above 399, which tests ask for on purpose.
_ANSWERED = "Failed to load resource: the server responded with a status of"


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """One browser; a test that asks for it is skipped where the machine has none."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip("this machine has no Chromium; .ci/run installs it")
    # Requests are not intercepted to keep the browser on this machine: whoever does that answers its preflights too.
    arguments = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=program, args=arguments)
        yield browser
        await browser.close()


@asynccontextmanager
async def new_page(browser: Browser, faults: list[str], **options: Any) -> AsyncIterator[Page]:
    """A page in a context of its own; what its console complains of, violations of the CSP too, goes into `faults`."""
    context = await browser.new_context(**options)
    page = await context.new_page()
    page.set_default_timeout(60_000)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "console",
        lambda said: (
            faults.append(said.text)
            if said.type in ("error", "warning") and not said.text.startswith(_ANSWERED)
            else None
        ),
    )
    yield page
    await context.close()
