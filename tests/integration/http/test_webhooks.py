"""Webhooks: what a receiver gets, whatever fails and dies on the way."""

import asyncio
import base64
import hashlib
import hmac
import json
import sys
import threading
import time
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from graph import feed
from librarian.base.errors import Conflict
from librarian.cli.doctor_checks.database import database_checks
from librarian.transfer.feed import webhooks
from librarian.transfer.feed.contracts import ChangeQuery, WebhookIn

SERVICE = """
import asyncio
from librarian.app import open_librarian
from librarian.base.settings.settings import Settings

async def main():
    async with open_librarian(Settings.from_env(), purpose="tests", linger_s=0, wait=False):
        await asyncio.Event().wait()

asyncio.run(main())
"""
MOVED = "MATCH (w:Webhook {namespace: $ns}) SET w.next_at = w.next_at - duration('PT2H')"


@dataclass
class Receiver:
    """Collects deliveries in order; `answers` are the statuses of the next requests, 0 for none at all."""

    url: str = ""
    came: list = field(default_factory=list)
    answers: list = field(default_factory=list)

    def payloads(self, secret):
        """The bodies by the ids of their deliveries; a second one of an id has to be the same."""
        found = {}
        for headers, body in self.came:
            verify(secret, headers, body)
            assert found.setdefault(headers["webhook-id"], body) == body
        return [json.loads(body) for body in found.values()]


def verify(secret, headers, body):
    """Check a signature as the specification tells receivers to."""
    stamp = headers["webhook-timestamp"]
    assert abs(time.time() - int(stamp)) < 60
    signed = f"{headers['webhook-id']}.{stamp}.{body.decode()}".encode()
    digest = hmac.new(base64.b64decode(secret.removeprefix("whsec_")), signed, hashlib.sha256).digest()
    assert f"v1,{base64.b64encode(digest).decode()}" in headers["webhook-signature"].split()


@pytest.fixture
def receiver():
    got = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = got.answers.pop(0) if got.answers else 204
            got.came.append((dict(self.headers), body))
            if status == 0:
                time.sleep(3600)
            self.send_response(status)
            self.send_header("Location", got.url + "elsewhere")
            self.end_headers()

        def log_message(self, *_args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.block_on_close = True, False
    threading.Thread(target=server.serve_forever, daemon=True).start()
    got.url = f"http://127.0.0.1:{server.server_port}/"
    yield got
    server.shutdown()
    server.server_close()


@pytest.fixture
async def room(librarian, settings, namespace, monkeypatch):
    """The webhooks of the run's Librarian, which may lead to this machine; none is left for the tests behind."""
    made = webhooks.WebhooksRoom(librarian.lifecycle, replace(settings.webhooks, private=True))
    monkeypatch.setattr(librarian, "webhooks", made)
    monkeypatch.setattr(webhooks, "_LOOK_EVERY_S", 0.05)
    monkeypatch.setattr(webhooks, "_COUNT_EVERY_S", 0.1)
    yield made
    for left in (await made.list_webhooks(namespace)).webhooks:
        await made.remove_webhook(namespace, left.webhook_id)


@pytest.fixture
async def sending(room):
    task = asyncio.create_task(room.send_changes())
    yield
    task.cancel()
    await asyncio.wait([task])


@pytest.fixture
def moved(executor, namespace):
    """Lets the time pass until the next attempt."""

    async def run(query=MOVED):
        await executor.driver.execute_query(query, ns=namespace)

    return run


async def until(condition):
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.02)


async def settled(librarian, namespace, state="active", failures=0):
    """The one webhook, once it has sent everything, or is in another state."""
    async with asyncio.timeout(30):
        while True:
            (found,) = (await librarian.list_webhooks(namespace)).webhooks
            head = str(await feed.head(librarian.parts.executor, namespace))
            if found.state == state and found.failures >= failures and (failures or found.cursor == head):
                return found
            await asyncio.sleep(0.02)


def note(uid):
    return {"kind": "memory", "uid": uid, "text": f"the text of {uid}"}


async def test_nothing_is_missing_when_receivers_refuse_and_a_service_is_killed(
    ingest, librarian, executor, namespace, receiver, room, environment, database, moved, tmp_path
):
    """A service is killed while the receiver holds a delivery, another one goes on: every change, in the order of the
    feed, doubles by the id and body that they had; and not a word of any text.
    """
    secret = (await librarian.add_webhook(namespace, WebhookIn(url=receiver.url))).secret
    receiver.answers = [503, 500, 302, 204, 0]
    passed = {**database, "LIBRARIAN_ENCODER": "none", "LIBRARIAN_WEBHOOKS_PRIVATE": "1"}
    with (tmp_path / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", SERVICE, env={**environment, **passed}, stdout=log, stderr=log
        )
    await ingest(*(note(f"a{n}") for n in range(130)), embed=False)
    for refused in (1, 2, 3):
        await until(lambda refused=refused: len(receiver.came) == refused)
        await settled(librarian, namespace, failures=refused)
        await ingest(note(f"b{refused}"), embed=False)
        await moved()
    await until(lambda: len(receiver.came) == 5)
    process.kill()
    await process.wait()
    assert secret.removeprefix("whsec_") not in (tmp_path / "log").read_text()
    await ingest(note("c"), embed=False)
    await librarian.delete_item(namespace, "a7")
    await executor.driver.execute_query("MATCH (l:Lock {name: 'webhooks'}) SET l.expires_at = datetime({year: 2020})")
    task = asyncio.create_task(room.send_changes())
    assert (await settled(librarian, namespace)).last_error is None
    task.cancel()
    await asyncio.wait([task])
    payloads = receiver.payloads(secret)
    assert len(receiver.came) > len(payloads)
    sent = [change for payload in payloads for change in payload["data"]["changes"]]
    page = await librarian.changes(namespace, ChangeQuery(after="0", limit=500))
    assert [change["cursor"] for change in sent] == [change.cursor for change in page.changes]
    assert {payload["type"] for payload in payloads} == {"changes"}
    assert payloads[-1]["data"]["cursor"] == page.cursor
    assert b"the text" not in b"".join(body for _, body in receiver.came)


async def test_a_receiver_that_takes_nothing_pauses_its_webhook_until_a_test_is_taken(
    ingest, client, headers, librarian, namespace, receiver, sending, settings, moved
):
    """After LIBRARIAN_WEBHOOKS_HOURS, at once where it says that it is gone; the reason is listed, `doctor` names it,
    and nothing that happened meanwhile is missing. A redirect is not followed.
    """
    made = (await client.post("/v1/webhooks", json={"url": receiver.url}, headers=headers)).json()
    webhook_id = made["webhook"]["webhook_id"]
    receiver.answers = [302]
    await ingest(note("a"), embed=False)
    failing = await settled(librarian, namespace, failures=1)
    assert (failing.last_error, failing.last_status) == ("status", 302)
    assert failing.next_attempt_at > failing.failing_since
    receiver.answers = [500]
    await moved(MOVED + ", w.failing_since = w.failing_since - duration('PT73H')")
    paused = await settled(librarian, namespace, "paused", failures=2)
    assert (paused.last_error, paused.last_status, paused.next_attempt_at) == ("status", 500, None)
    (check,) = [check for check in await database_checks(settings) if check.name == "webhooks"]
    assert check.status == "warning"
    assert f"{webhook_id} of {namespace}: status" in check.detail
    await until(lambda: librarian.webhooks.paused)
    assert (await librarian.readiness()).checks["webhooks"] == "1 paused; `librarian doctor` names them"
    assert "librarian_webhooks_paused 1.0" in (await client.get("/metrics")).text
    await ingest(note("b"), embed=False)
    receiver.answers = [500, 204, 410]
    for taken in (False, True):
        tested = (await client.post(f"/v1/webhooks/{webhook_id}:test", headers=headers)).json()
        assert (tested["delivered"], tested["status"]) == (taken, 204 if taken else 500)
    gone = await settled(librarian, namespace, "paused", failures=1)
    assert gone.last_status == 410
    assert (await client.post(f"/v1/webhooks/{webhook_id}:test", headers=headers)).json()["delivered"]
    await settled(librarian, namespace)
    payloads = [payload for payload in receiver.payloads(made["secret"]) if payload["type"] == "changes"]
    assert [change["uid"] for payload in payloads for change in payload["data"]["changes"]] == ["a", "b"]
    removed = await client.delete(f"/v1/webhooks/{webhook_id}", headers=headers)
    assert removed.json()["webhook_id"] == webhook_id
    assert (await client.post(f"/v1/webhooks/{webhook_id}:test", headers=headers)).status_code == 404
    assert (await client.get("/v1/webhooks", headers=headers)).json() == {"webhooks": []}


async def test_what_is_not_kept_any_more_pauses_too(ingest, librarian, executor, namespace, receiver, sending, moved):
    """The test that is taken says so, and the webhook goes on from now."""
    receiver.answers = [500]
    made = await librarian.add_webhook(namespace, WebhookIn(url=receiver.url))
    for uid in "abc":
        await ingest(note(uid), embed=False)
    await settled(librarian, namespace, failures=1)
    await moved("MATCH (s:ChangeSet {namespace: $ns}) SET s.at = s.at - duration('PT3H')")
    await feed.delete_old_changes(executor, 2)
    await moved()
    assert (await settled(librarian, namespace, "paused", failures=2)).last_error == "changes_gone"
    tested = await librarian.test_webhook(namespace, made.webhook.webhook_id)
    assert (tested.delivered, tested.changes_gone) == (True, True)
    await settled(librarian, namespace)


async def test_a_webhook_tells_of_the_kinds_that_it_was_registered_for(ingest, librarian, namespace, receiver, sending):
    """Changes of other kinds are passed over, and no request is made for them."""
    made = await librarian.add_webhook(namespace, WebhookIn(url=receiver.url, kinds=["fact"]))
    for n in range(3):
        await ingest(note(f"m{n}"), embed=False)
    await settled(librarian, namespace)
    assert receiver.came == []
    await ingest(note("m4"), {"kind": "fact", "uid": "f", "text": "Ada lives in Porto"}, embed=False)
    await settled(librarian, namespace)
    (payload,) = receiver.payloads(made.secret)
    assert [change["uid"] for change in payload["data"]["changes"]] == ["f"]


async def test_the_secret_is_told_once_and_kept_nowhere(
    client, headers, librarian, executor, namespace, room, receiver
):
    """Not in the graph, whatever the client sends; a second webhook of an address and one too many are refused."""
    sent = headers | {"Idempotency-Key": "once"}
    made = await client.post("/v1/webhooks", json={"url": receiver.url, "kinds": ["fact"]}, headers=sent)
    assert made.status_code == 201
    secret = made.json()["secret"].removeprefix("whsec_")
    rows = await executor.driver.execute_query("MATCH (n {namespace: $ns}) RETURN properties(n) AS p", ns=namespace)
    assert rows.records
    assert secret not in str(rows.records)
    listed = await client.get("/v1/webhooks", headers=headers)
    assert secret not in listed.text
    assert listed.json()["webhooks"][0]["kinds"] == ["fact"]
    again = await client.post("/v1/webhooks", json={"url": receiver.url}, headers=sent)
    assert (again.status_code, again.json()["code"]) == (409, "conflict")
    for n in range(webhooks.MOST_WEBHOOKS - 1):
        await librarian.add_webhook(namespace, WebhookIn(url=f"https://hooks.example.com/{n}"))
    with pytest.raises(Conflict):
        await librarian.add_webhook(namespace, WebhookIn(url="https://hooks.example.com/more"))
