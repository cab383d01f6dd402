"""Facts stated in messages: those that a sweep proposes or stores."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from graph import sweep as graph
from graph.executor import Executor
from graph.item import Message, NewItem
from graph.sweep import ReadMessage, StatedFact
from librarian.items.contracts import FactIn
from librarian.items.rows import RowBuilder
from librarian.items.succession import Declared, Successions, audited, with_successions
from librarian.sweep.changes import Change, fact_of
from librarian.sweep.contracts import ProposedFact
from librarian.sweep.lessons import Lessons, lowered
from librarian.sweep.llm import Adviser
from librarian_agents.facts.llm import messages_of
from librarian_agents.facts.stated import ACCEPTED_FROM, Stated, stated_facts
from retrieval.cues import COMMANDS, HINTS_AT_COMMANDS

_NOT_PEOPLE = frozenset({"assistant", "system", "tool", "developer", "function"})
_NOBODY = "the user"
_SUSPICIOUS = 2


def facts_of_message(text: str, author: str, role: str | None) -> list[Stated]:
    """Return the facts stated by a message's author; none if it gives orders to its reader or no person wrote it."""
    return stated_facts(text, author) if is_read(text, role) else []


async def plan_facts(
    executor: Executor, namespace: str, page: Sequence[ReadMessage], lessons: Lessons, adviser: Adviser | None = None
) -> list[StatedFact]:
    """Return new facts of a page of messages: neither stored nor proposed before.

    Facts found by the rules come first; those that a model adds are only proposed.
    """
    said: Sequence[list[Stated]] = await asyncio.to_thread(lambda: [_ruled(message) for message in page])
    model = None
    if adviser is not None:
        model, said = adviser.report.model, await _advised(page, said, adviser)
    pairs = [(message, each) for message, all_ in zip(page, said, strict=True) for each in all_]
    found = [_change(namespace, message, each, lessons, model) for message, each in pairs]
    held = await graph.held_facts(executor, namespace, [(fact.subject, fact.predicate, fact.object) for fact in found])
    known = {fact_id for message in page for fact_id in message.facts}
    fresh = {
        fact.fact_id: fact
        for fact in found
        if fact.fact_id not in known and (fact.subject, fact.predicate, fact.object) not in held
    }
    return list(fresh.values())


def asked_chars(page: Sequence[ReadMessage]) -> int:
    """Return how many characters a model reads for these messages."""
    prompts = [messages_of(message.item.text, author_of(message.item)) for message in page]
    return sum(len(part.content) for asked in prompts for part in asked)


async def facts_to_store(
    executor: Executor, namespace: str, changes: Sequence[Change], declared: Declared
) -> Successions:
    """Return the accepted facts among changes, each with the facts it replaces."""
    accepted = [change for change in changes if isinstance(change, StatedFact) and change.state == "accepted"]
    items = [new_fact(namespace, fact_of(change), change.memory_id, change.confidence) for change in accepted]
    found = await with_successions(executor, namespace, items, declared)
    audited(namespace, found)
    return found


def new_fact(namespace: str, fact: ProposedFact, message: str, confidence: float | None) -> NewItem:
    """Return the fact as ingest writes it, with the message as its evidence."""
    return RowBuilder().item(
        namespace,
        FactIn(
            uid=fact.fact_id or None,
            subject=fact.subject,
            predicate=fact.predicate,
            object=fact.object,
            person_id=fact.person_id,
            confidence=confidence,
            valid_from=fact.valid_from,
            evidence=[message],
        ),
    )


def author_of(message: Message) -> str:
    """Return the name of a message's author in the facts that it states."""
    return message.author_name or message.author_id or _NOBODY


def is_read(text: str, role: str | None) -> bool:
    """Return whether a person wrote a message, and it gives no orders to its reader."""
    if (role or "").casefold() in _NOT_PEOPLE or COMMANDS.search(text):
        return False
    return len(HINTS_AT_COMMANDS.findall(text)) < _SUSPICIOUS


def _ruled(message: ReadMessage) -> list[Stated]:
    return facts_of_message(message.item.text, author_of(message.item), message.item.role)


async def _advised(
    page: Sequence[ReadMessage], said: Sequence[list[Stated]], adviser: Adviser
) -> Sequence[list[Stated]]:
    """Return the facts that the rules find in each message, followed by those that the model adds."""
    asked = [index for index, message in enumerate(page) if is_read(message.item.text, message.item.role)]
    answers = await adviser.facts([(page[index].item.text, author_of(page[index].item)) for index in asked])
    more = dict(zip(asked, answers, strict=True))
    return [[*ruled, *_new(more.get(index, ()), ruled)] for index, ruled in enumerate(said)]


def _new(told: Sequence[Stated], ruled: Sequence[Stated]) -> list[Stated]:
    """Return the facts about objects that the rules have not found."""
    known = {(each.subject.casefold(), each.object.casefold()) for each in ruled}
    return [each for each in told if (each.subject.casefold(), each.object.casefold()) not in known]


def _change(namespace: str, message: ReadMessage, said: Stated, lessons: Lessons, model: str | None) -> StatedFact:
    reason = f'stated as "{said.form}"'
    taught = lowered(lessons, reason, said.confidence)
    confidence = said.confidence if taught is None else taught
    change = StatedFact(
        memory_id=message.item.uid,
        version=message.item.version,
        fact_id="",
        subject=said.subject,
        predicate=said.predicate,
        object=said.object,
        quote=said.quote,
        person_id=message.item.author_id if said.by_author else None,
        valid_from=message.item.sent_at,
        state="accepted" if confidence >= ACCEPTED_FROM else "proposed",
        confidence=confidence,
        reason=reason,
        method=said.method,
        model=model if said.method == "llm" else None,
    )
    return replace(change, fact_id=new_fact(namespace, fact_of(change), message.item.uid, confidence).item.uid)
