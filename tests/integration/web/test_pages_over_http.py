"""The protection of the web page: cookies, tokens, headers, rights, and answers to programs."""

import json
import re

import httpx
import pytest

from librarian.base.settings.values import Rate
from librarian.http.web.session import Sessions
from librarian.http.web.site import PAGES
from librarian.items.contracts import EdgeQuery
from librarian.sweep.contracts import ReviewQuery, SweepRequest

READ = ["/", "/items/mem-chart-cleanup", "/reviews", "/namespaces", "/health"]


def cookies_of(answer: httpx.Response) -> list[str]:
    return answer.headers.get_list("set-cookie")


async def test_programs_are_told_what_they_always_were(client):
    """Who does not ask for HTML gets problem+json at `/`, and no page or form elsewhere."""
    for path in ("/", "/login", "/items/x", "/health", "/nowhere"):
        for accept in ("*/*", "application/json"):
            answer = await client.get(path, headers={"Accept": accept})
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
            assert answer.headers["content-type"] == "application/problem+json"


async def test_a_service_without_sessions_serves_no_page(serve_app, librarian, keys):
    """`serve --agent-only` has none: a browser gets what programs get."""
    async with (
        serve_app(librarian, keys) as url,
        httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as client,
    ):
        for path in ("/", "/login", "/static/page.css"):
            answer = await client.get(path, headers={"Accept": "text/html"})
            assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


async def test_every_page_asks_for_a_session(client):
    """Without a cookie each page, but for those of the login itself, leads to the form, and back to itself after it."""
    for page in [page for page in PAGES if page.scope is not None]:
        path = re.sub(r"\{\w+\}", "x", page.path)
        answer = await client.request(page.method, path)
        assert (answer.status_code, answer.headers["location"]) == (
            303,
            f"/login?next={path.replace('/', '%2F')}",
        ), path


async def test_the_cookie_is_kept_from_scripts_and_other_sites(client, logged_in, key):
    """HttpOnly, SameSite=Strict, with an end; the key is not in it, whole or in part."""
    answer = await logged_in(key)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    (cookie,) = [one for one in cookies_of(answer) if one.startswith("librarian=")]
    for attribute in ("HttpOnly", "SameSite=strict", "Max-Age=43200", "Path=/"):
        assert attribute in cookie
    assert "Secure" not in cookie
    assert key.removeprefix("lib_")[:8] not in cookie


async def test_under_tls_the_cookie_is_secure(client, key):
    """Behind a proxy that speaks TLS, browsers send it over TLS alone, and no neighbour can set it."""
    proxied = {"X-Forwarded-Proto": "https"}
    form = await client.get("/login", headers=proxied)
    (visit,) = cookies_of(form)
    assert visit.startswith("__Host-librarian-visit=")
    assert "Secure" in visit
    token = form.text.split('name="token" value="')[1].split('"')[0]
    sent = {**proxied, "Cookie": visit.partition(";")[0]}
    answer = await client.post("/login", data={"token": token, "key": key}, headers=sent)
    (cookie,) = [one for one in cookies_of(answer) if one.startswith("__Host-librarian=")]
    assert "Secure" in cookie


async def test_an_altered_or_foreign_cookie_is_no_session(client, logged_in, key, keys):
    """Only what this service signed counts, whatever it names."""
    await logged_in(key)
    good = client.cookies["librarian"]
    payload, _, signature = good.partition(".")
    forged = Sessions(b"another secret, which is not the service's own").begin(keys.list()[-1])
    for bad in (good[:-1], f"{payload[:-2]}xx.{signature}", forged, "", "x" * 5000):
        client.cookies.clear()
        answer = await client.get("/health", headers={"Cookie": f"librarian={bad}"})
        assert answer.status_code == 303
    assert (await client.get("/health", headers={"Cookie": f"librarian={good}"})).status_code == 200


async def test_an_expired_key_ends_its_sessions(client, logged_in, keys, shelf):
    """The key file decides about every request."""
    entry, key = keys.create("guest", namespaces=[shelf], scopes=["read"])
    await logged_in(key)
    assert (await client.get("/health")).status_code == 200
    content = json.loads(keys.path.read_bytes())
    for one in content["keys"]:
        if one["id"] == entry.id:
            one["expires_at"] = "2026-01-01T00:00:00Z"
    keys.path.write_text(json.dumps(content))
    answer = await client.get("/health")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=%2Fhealth")


async def test_a_session_does_not_outlive_its_keys_replacement(client, logged_in, keys, shelf):
    """An id that an operator gives to another key opens nothing to the old one's sessions."""
    entry, key = keys.create("swapped", namespaces=[shelf], scopes=["read"])
    await logged_in(key)
    content = json.loads(keys.path.read_bytes())
    for one in content["keys"]:
        if one["id"] == entry.id:
            one["sha256"] = "0" * 64
    keys.path.write_text(json.dumps(content))
    assert (await client.get("/health")).status_code == 303


@pytest.mark.parametrize(
    "path",
    [
        "/logout", "/reviews", "/reviews/all", "/edges/x", "/edges/x/unlink", "/remember",
        "/sweeps/sweep-20260101-001/undo",
        *(f"/items/mem-chart-cleanup/{act}" for act in ("edit", "restore", "correct", "link", "forget", "pin")),
    ],
)  # fmt: skip
async def test_a_form_without_its_token_is_refused(client, logged_in, key, path):
    """A form that another site posts changes nothing, nor does the token of another session."""
    await logged_in(key)
    stolen = Sessions(b"a secret of thirty-two bytes or more").token("another session")
    for form in ({}, {"token": ""}, {"token": "é"}, {"token": stolen}):
        answer = await client.post(path, data={"verdict": "accept", **form})
        assert answer.status_code == 403
        assert "forbidden" in answer.text
    assert (await client.get("/health")).status_code == 200


async def test_logging_in_takes_the_forms_own_token(client, key):
    """Nobody is logged in by a form of another site."""
    await client.get("/login")
    assert (await client.post("/login", data={"key": key})).status_code == 403
    client.cookies.clear()
    answer = await client.post("/login", data={"key": key, "token": "x"})
    assert answer.status_code == 403
    assert not [one for one in cookies_of(answer) if one.startswith("librarian=")]


async def test_a_form_is_read_as_a_form_only(client, logged_in, key):
    """Other content types and large or broken forms are refused with the right status."""
    await logged_in(key)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert (await client.post("/logout", json={})).status_code == 415
    assert (await client.post("/logout", content=b"a=" + b"b" * 70_000, headers=form)).status_code == 413
    assert (await client.post("/logout", content=b"a=%ff", headers=form)).status_code == 400
    assert (await client.post("/logout", content=b"&".join([b"a=b"] * 99), headers=form)).status_code == 400


async def test_logging_out_ends_the_session(client, logged_in, key):
    """The browser forgets its cookie."""
    await logged_in(key)
    token = (await client.get("/health")).text.split('name="token" value="')[1].split('"')[0]
    answer = await client.post("/logout", data={"token": token})
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    assert (await client.get("/health")).status_code == 303


async def test_every_answer_carries_the_secure_headers(client, logged_in, key):
    """Nothing runs that is not ours, nothing is framed, kept or told to others; pages that fail too."""
    await logged_in(key)
    for path in (*READ, "/items/none", "/login", "/?limit=0", "/sweeps/x"):
        answer = await client.get(path)
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert {"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"} <= set(
            policy.split("; ")
        )
        expected = {
            "cache-control": "no-store",
            "referrer-policy": "no-referrer",
            "x-content-type-options": "nosniff",
            "x-frame-options": "DENY",
        }
        assert {name: answer.headers[name] for name in expected} == expected
        assert answer.headers["request-id"]
        assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", answer.text)


async def test_a_key_opens_its_namespaces_only(client, logged_in, keys, shelf, librarian, ingest, namespace):
    """Another namespace is forbidden, and its items are not found."""
    await ingest({"kind": "memory", "uid": "theirs", "text": "secret of the neighbours"}, embed=False)
    _, key = keys.create("mine", namespaces=[shelf], scopes=["read", "write", "sweep"])
    await logged_in(key)
    for path in ("/", "/items/theirs", "/reviews", "/sweeps"):
        answer = await client.get(path, params={"ns": namespace})
        assert (answer.status_code, "secret" in answer.text) == (403, False), path
    assert (await client.get("/items/theirs")).status_code == 404
    assert (await client.get("/", params={"ns": "a b"})).status_code == 400
    assert namespace not in (await client.get("/namespaces")).text


async def test_a_key_of_many_namespaces_chooses(client, logged_in, keys, shelf, namespace, ingest):
    """Where the address names none, a page asks, and leads on to where the visitor was going."""
    await ingest({"kind": "memory", "uid": "one", "text": "something"}, embed=False)
    _, key = keys.create("many", namespaces=[shelf, namespace], scopes=["read"])
    await logged_in(key)
    answer = await client.get("/items/one?depth=1")
    assert (answer.status_code, answer.headers["location"]) == (
        303,
        "/namespaces?next=%2Fitems%2Fone%3Fdepth%3D1&auto=1",
    )
    search = (await client.get(f"/?ns={namespace}")).text
    assert f"<option selected>{namespace}</option>" in search
    assert f"<option>{shelf}</option>" in search
    choice = await client.get(answer.headers["location"])
    assert f'href="/items/one?depth=1&amp;ns={namespace}"' in choice.text
    _, key = keys.create("one of many", namespaces=[f"{namespace}:*", namespace], scopes=["read"])
    await logged_in(key)
    answer = await client.get("/namespaces?next=%2Fitems%2Fone&auto=1")
    assert (answer.status_code, answer.headers["location"]) == (303, f"/items/one?ns={namespace}")


async def test_scopes_hold_on_every_page(client, logged_in, keys, shelf, propose):
    """A key that may only read sees no sweeps and decides nothing; one that may not read sees health alone."""
    (edge_id,) = await propose(("mem-preflight", "mem-half-year"))
    _, reading = keys.create("reading", namespaces=[shelf], scopes=["read"])
    await logged_in(reading)
    page = (await client.get(f"/edges/{edge_id}")).text
    assert "verdict" not in page
    token = page.split('name="token" value="')[1].split('"')[0]
    answer = await client.post(f"/edges/{edge_id}", data={"token": token, "verdict": "accept"})
    assert (answer.status_code, (await client.get("/sweeps")).status_code) == (403, 403)
    _, asking = keys.create("asking", namespaces=[shelf], scopes=["agent"])
    await logged_in(asking)
    assert [(await client.get(path)).status_code for path in READ] == [403, 403, 403, 403, 200]


async def test_a_humans_edge_is_not_to_be_decided(client, logged_in, key, librarian, shelf):
    """Its page has no form; a decision that comes all the same is told to be a conflict."""
    edge = (await librarian.list_edges(shelf, EdgeQuery(methods=["human"], limit=1))).edges[0]
    await logged_in(key)
    page = (await client.get(f"/edges/{edge.edge_id}")).text
    assert "verdict" not in page
    token = page.split('name="token" value="')[1].split('"')[0]
    answer = await client.post(f"/edges/{edge.edge_id}", data={"token": token, "verdict": "reject"})
    assert (answer.status_code, "conflict" in answer.text) == (409, True)


async def test_merges_and_types_are_decided_in_the_list(client, logged_in, keys, librarian, ingest, namespace):
    """Proposals of a sweep other than edges have their form in the list; the decision takes the list's state along."""
    text = "TIL: the cache of the search page is warmed by the deploy hook at 06:00 every day"
    await ingest(
        {"kind": "memory", "uid": "fuller", "text": f"{text}, too."},
        {"kind": "memory", "uid": "shorter", "text": f"{text}."},
        {"kind": "memory", "uid": "odd", "text": "Umbrella, tea, two pens."},
    )
    await librarian.sweep(namespace, SweepRequest())
    _, key = keys.create("reviewer", namespaces=[namespace], scopes=["read", "write"])
    await logged_in(key)
    waiting = {one.sort: one for one in (await librarian.list_reviews(namespace, ReviewQuery())).reviews}
    assert {"flag", "merge"} <= set(waiting)
    token = (await client.get("/reviews")).text.split('name="token" value="')[1].split('"')[0]
    for sort, more in (("flag", {"type": "Insight"}), ("merge", {})):
        sent = {"token": token, "review_id": waiting[sort].review_id, "verdict": "accept", "reason": "seen", **more}
        answer = await client.post(f"/reviews?sort={sort}", data=sent)
        assert answer.headers["location"] == f"/reviews?ns={namespace}&state=open&sort={sort}&said=accepted"
    assert (await librarian.get_item(namespace, "odd")).properties["type"] == "Insight"
    assert (await client.get("/items/shorter")).status_code == 404
    decided = (await client.get("/reviews?state=accepted")).text
    assert decided.count("seen") == 2


async def test_rewordings_of_what_was_forgotten_are_judged_beside_reviews(
    client, logged_in, keys, librarian, ingest, namespace
):
    """Each is shown with the way to forget it, which asks, and to keep it for good; then nothing is left to judge."""
    secret = "Ada's locker in the basement has the number 4711 and the code of the safe"
    await ingest({"kind": "memory", "uid": "told", "text": secret}, embed=False)
    await librarian.delete_item(namespace, "told")
    again = [{"kind": "memory", "uid": uid, "text": f"{secret}, says {uid}."} for uid in ("bo", "eve")]
    assert (await ingest(*again, embed=False)).resembling == 2
    _, key = keys.create("judge", namespaces=[namespace], scopes=["read", "write"])
    await logged_in(key)
    shown = (await client.get("/reviews")).text
    assert shown.count("Keep for good") == 2
    assert "Keep for good" in (await client.get("/items/bo")).text
    form = {"token": shown.split('name="token" value="')[1].split('"')[0]}
    kept = await client.post("/items/bo/pin", data=form)
    assert kept.headers["location"] == f"/reviews?ns={namespace}&said=pinned"
    preview = (await client.post("/items/eve/forget", data=form)).text
    confirmed = {**form, "confirm_token": preview.split('name="confirm_token" value="')[1].split('"')[0]}
    assert "It is forgotten." in (await client.post("/items/eve/forget", data=confirmed)).text
    assert "Keep for good" not in (await client.get("/reviews")).text
    assert (await librarian.get_item(namespace, "bo")).properties["pinned"]


async def test_decisions_are_revised_on_pages_and_many_taken_at_once(
    client, logged_in, keys, librarian, ingest, namespace
):
    """By reason, after a page that says how many; what they teach is shown, and goes with a revision."""
    texts = {f"m{n}": f"Note {n} about the harbour crane." for n in range(4)}
    await ingest(*({"kind": "memory", "uid": uid, "text": text} for uid, text in texts.items()), embed=False)
    await librarian.parts.executor.run_migration(
        "MATCH (a:Item {namespace: $ns, uid: 'm0'}), (b:Item {namespace: $ns}) WHERE b.uid <> 'm0' "
        "CREATE (a)-[:PROPOSED {edge_id: $ns + b.uid, type: 'RELATES_TO', state: 'proposed', method: 'rule', "
        "confidence: 0.5, reason: 'the texts are close (0.5)'}]->(b)",
        {"ns": namespace},
    )
    _, key = keys.create("ada", namespaces=[namespace], scopes=["read", "write"])
    await logged_in(key)
    listed = (await client.get("/reviews", params={"because": "the texts are close"})).text
    assert "Reject all of these" in listed
    token = listed.split('name="token" value="')[1].split('"')[0]
    shown = {"state": "open", "because": "the texts are close"}
    decision = {"token": token, "verdict": "reject", "reason": "boilerplate"}
    preview = (await client.post("/reviews/all", params=shown, data=decision)).text
    assert "This would decide 3." in preview
    confirm = preview.split('name="confirm_token" value="')[1].split('"')[0]
    answer = await client.post("/reviews/all", params=shown, data={**decision, "confirm_token": confirm})
    assert (answer.status_code, answer.headers["location"].endswith("said=decided")) == (303, True)
    rejected = (await client.get("/reviews?state=rejected")).text
    assert rejected.count("boilerplate") == 3
    assert rejected.count("<span>ada</span>") == 3
    assert "3 more were rejected than accepted" in rejected

    edge = f"/edges/{namespace}m1"
    assert "Accept after all" in (await client.get(edge)).text
    revision = {"token": token, "verdict": "accept", "reason": "the same crane", "revise": "true"}
    assert (await client.post(edge, data=revision)).headers["location"].endswith("said=accepted")
    review = {**revision, "review_id": f"{namespace}m2"}
    assert (await client.post("/reviews?state=rejected", data=review)).headers["location"].endswith("said=accepted")
    assert (await librarian.get_edge(namespace, f"{namespace}m1")).review_reason == "the same crane"
    accepted = (await client.get("/reviews?state=accepted")).text
    assert accepted.count("Reject after all") == 2
    assert "more were rejected" not in accepted


async def test_a_page_leads_to_this_service_only(client, key):
    """The next page that an address names is a path of ours, or nothing."""
    for target in ("//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "/a\nb", ""):
        form = await client.get("/login", params={"next": target})
        assert 'name="next" value="/"' in form.text, target
    asked = await client.get("/items/a%3Fb%25%0A?depth=1")
    assert asked.headers["location"] == "/login?next=%2Fitems%2Fa%253Fb%2525%250A%3Fdepth%3D1"
    assert 'name="next" value="/sweeps?ns=a"' in (await client.get("/login?next=/sweeps?ns=a")).text


async def test_a_link_from_another_site_is_loaded_once_more(client):
    """A strict cookie stays at home then; the page loads itself again before it asks for a key."""
    answer = await client.get("/health", headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 200
    assert '<meta http-equiv="refresh" content="0">' in answer.text
    assert cookies_of(answer) == []


async def test_what_goes_wrong_is_told_on_a_page(client, logged_in, key):
    """Title, code, remedy and request id, with the status that programs get."""
    await logged_in(key)
    answer = await client.get("/items/none", headers={"Request-Id": "abc123"})
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    for told in ("Not Found", "not_found", "abc123", "no item has this uid"):
        assert told in answer.text
    for path, status in (("/?limit=0", 400), ("/?nothing=1", 400), ("/?cursor=x", 400), ("/nowhere", 404)):
        assert (await client.get(path)).status_code == status, path
    assert (await client.post("/health")).status_code == 405
    late = await client.get("/?q=deploy", headers={"Request-Timeout-Ms": "1"})
    assert (late.status_code, late.headers["content-type"]) == (504, "text/html; charset=utf-8")
    assert late.headers["retry-after"]
    japanese = await client.get("/items/none", headers={"Accept-Language": "ja"})
    assert "見つかりません" in japanese.text


async def test_limits_hold_for_pages_too(serve_app, librarian, keys, key):
    """The rate of a key counts its login and its pages; the metrics know pages by their patterns."""
    async with (
        serve_app(librarian, keys, Sessions(b"s" * 32), rate_limit=Rate(5, 3600.0)) as url,
        httpx.AsyncClient(base_url=url, headers={"Accept": "text/html"}, trust_env=False, timeout=60) as client,
    ):
        form = (await client.get("/login")).text
        token = form.split('name="token" value="')[1].split('"')[0]
        await client.post("/login", data={"token": token, "key": key})
        statuses = [(await client.get("/items/none")).status_code for _ in range(6)]
        assert statuses == [404] * 4 + [429] * 2
        assert int((await client.get("/items/none")).headers["retry-after"]) > 0
        figures = (await client.get("/metrics")).text
        assert 'route="/items/{uid}"' in figures
        assert "/items/none" not in figures


async def test_scripts_and_styles_are_served_to_everyone(client):
    """By an address that names their content, so that browsers may keep them for ever."""
    form = (await client.get("/login")).text
    for address in re.findall(r'(?:src|href)="(/static/[^"]+)"', form):
        answer = await client.get(address)
        assert (answer.status_code, "immutable" in answer.headers["cache-control"]) == (200, True)
    assert (await client.get("/static/none.js")).status_code == 404
    assert (await client.get("/static/..%2Findex.html")).status_code == 404


async def test_a_hit_says_what_led_to_it(client, logged_in, key, shelf):
    """With a link to the cause; a question that asks why shows its root first."""
    await logged_in(key)
    page = (await client.get("/", params={"ns": shelf, "q": "why did the deploy fail?"})).text
    uids = re.findall(r"<code>([^<]+)</code>", page)
    assert uids[0] == "mem-chart-cleanup"
    assert re.search(r'led to by <a href="/items/mem-chart-cleanup[^>]*>The chart clean-up HRB-398', page)
