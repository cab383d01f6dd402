"""The documentation page in a real browser: everything comes from the service, and a key entered there works."""

import httpx

from librarian.http.api import DOCUMENTED

COUNT_OPERATIONS = "document.querySelectorAll('.opblock').length"


def click(selector):
    return f"(element => element && (element.click(), true))(document.querySelector({selector!r}))"


def enter(selector, text):
    """Type `text` as a user would: the page's framework listens to events, not to assignments."""
    return f"""(element => {{
      if (!element) return false;
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(element, {text!r});
      return element.dispatchEvent(new Event('input', {{bubbles: true}}));
    }})(document.querySelector({selector!r}))"""


async def test_the_page_shows_every_operation_and_nothing_leaves_the_service(page, service):
    """No CDN, no font, no validator: each request goes to the service itself, and its policy forbids nothing needed."""
    await page.call("Page.navigate", url=f"{service}/docs")
    await page.until(f"{COUNT_OPERATIONS} === {len(DOCUMENTED)}")
    assert [url for url in page.requested if not url.startswith((f"{service}/", "data:", "blob:", "about:"))] == []
    assert f"{service}/openapi.json" in page.requested
    assert page.complaints == []


async def test_a_key_entered_in_the_page_is_used(page, service, key):
    """Authorize, then Execute: the answer stands in the page."""
    await page.call("Page.navigate", url=f"{service}/docs")
    await page.until(click("button.authorize"))
    await page.until(enter(".modal-ux input", key))
    await page.until(click(".modal-ux button.authorize"))
    await page.until(click(".modal-ux button.btn-done"))
    operation = "#operations-namespaces-list_namespaces"
    await page.until(click(f"{operation} .opblock-summary-control"))
    # Swagger UI resolves an operation's references when it is opened; a click before that is lost in it.
    await page.until(f"document.querySelector({f'{operation} .responses-table .highlight-code'!r}) !== null")
    await page.until(click(f"{operation} button.execute"))
    shown = f"document.querySelector({f'{operation} .live-responses-table tbody .response-col_status'!r})?.innerText"
    assert (await page.until(shown)).startswith("200")


async def test_the_page_runs_no_script_but_its_own(page, service):
    """The policy stops what an injected script would do: run inline, and talk to others."""
    await page.call("Page.navigate", url=f"{service}/docs")
    await page.until(COUNT_OPERATIONS)
    await page.value_of(
        "document.body.append(Object.assign(document.createElement('script'), {text: 'window.injected = 1'}))"
    )
    assert await page.value_of("window.injected") is None
    assert await page.value_of("fetch('http://127.0.0.1:1/').then(() => 'sent', () => 'refused')") == "refused"
    assert any("Content Security Policy" in complaint for complaint in page.complaints)


async def test_documentation_is_open_and_names_its_types(service):
    """Like the probes it needs no key; nothing is guessed from content, framed, or read beyond the known files."""
    async with httpx.AsyncClient(base_url=service, trust_env=False, timeout=60) as client:
        for path in ("/openapi.json", "/docs", "/docs/init.js", "/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js"):
            answer = await client.get(path)
            assert answer.status_code == 200, path
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        for path in ("/docs/index.html", "/docs/VERSION", "/docs/..%2findex.html", "/docs/.."):
            assert (await client.get(path)).status_code == 404, path
