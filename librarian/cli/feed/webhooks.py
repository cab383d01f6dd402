"""`librarian webhook`: sends changes to other systems."""

from collections.abc import Sequence
from typing import Annotated

import typer

from librarian.cli.asking import ask
from librarian.cli.display import table
from librarian.cli.lazy import new_app
from librarian.cli.opening import answering_without_encoder, reached_without_encoder
from librarian.cli.options import JsonOption, NamespaceOption, takes
from librarian.cli.runtime import say
from librarian.transfer.feed.contracts import WebhookCreated, WebhookIn, WebhookOut, WebhookTest

app = new_app()
webhook = new_app("Send signed changes to other systems.")
app.add_typer(webhook, name="webhook")

WebhookArgument = Annotated[
    str, typer.Argument(metavar="WEBHOOK", help="Its id, as `librarian webhook list` shows it.")
]


@webhook.command("add")
@takes(WebhookIn)
def add(what: WebhookIn, namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """Send changes from now on to URL; prints the secret for checking signatures, once.

    A running service sends them and retries until the receiver answers with a 2xx.
    """
    ask(
        lambda librarian, where: librarian.add_webhook(where, what),
        namespace,
        _show_secret,
        purpose="webhook",
        contract=WebhookIn,
        reach=reached_without_encoder,
        as_json=as_json,
    )


@webhook.command("list")
def list_webhooks(namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """List the webhooks of a namespace: active or paused, and why."""
    ask(
        lambda librarian, where: librarian.list_webhooks(where),
        namespace,
        lambda found: _show_webhooks(found.webhooks),
        purpose="webhook",
        reach=answering_without_encoder,
        as_json=as_json,
    )


@webhook.command("remove")
def remove(webhook_id: WebhookArgument, namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """Remove a webhook; its secret becomes useless."""
    ask(
        lambda librarian, where: librarian.remove_webhook(where, webhook_id),
        namespace,
        lambda removed: say(f"Removed; it had sent the changes up to {removed.cursor}."),
        purpose="webhook",
        reach=reached_without_encoder,
        as_json=as_json,
    )


@webhook.command("test")
def send_test(webhook_id: WebhookArgument, namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """Send a test delivery now; if it succeeds, a paused webhook resumes."""
    ask(
        lambda librarian, where: librarian.test_webhook(where, webhook_id),
        namespace,
        _show_test,
        purpose="webhook",
        reach=reached_without_encoder,
        as_json=as_json,
    )


def _show_secret(made: WebhookCreated) -> None:
    say(f"Webhook {made.webhook.webhook_id}; its secret is not shown again:")
    typer.echo(made.secret)


def _show_webhooks(found: Sequence[WebhookOut]) -> None:
    if found:
        rows = [(each.webhook_id, each.url, each.state, each.cursor, each.failures, _why(each)) for each in found]
        table(("webhook", "url", "state", "sent up to", "failures", "why"), rows)
    else:
        say("No webhooks.")


def _why(webhook: WebhookOut) -> str:
    if webhook.last_error is None:
        return ""
    answered = f" {webhook.last_status}" if webhook.last_error == "status" else ""
    since = f", since {webhook.failing_since:%Y-%m-%d %H:%M}" if webhook.failing_since else ""
    return f"{webhook.last_error}{answered}{since}"


def _show_test(done: WebhookTest) -> None:
    if not done.delivered:
        say(f"Not taken: {done.error}{'' if done.status is None else f' {done.status}'}.")
    elif done.changes_gone:
        say("Accepted. Its unsent changes are no longer kept: it continues from now, and the receiver must start over.")
    else:
        say("Taken.")
