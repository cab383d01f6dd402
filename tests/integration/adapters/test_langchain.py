"""LangChain's own tests for retrievers, and a chat history that gives back every kind of message as it was."""

from uuid import uuid4

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_tests.integration_tests import RetrieversIntegrationTests

from librarian.adapters.langchain import LibrarianChatMessageHistory, LibrarianRetriever
from librarian.client import LibrarianClient

SAID = [
    SystemMessage("Answer briefly."),
    HumanMessage("Which seats does Ada like?", name="bo"),
    AIMessage("", tool_calls=[{"name": "recall", "args": {"about": "seats"}, "id": "call-1"}]),
    ToolMessage("window seats", tool_call_id="call-1"),
    AIMessage([{"type": "text", "text": "Window seats, since 2019."}], response_metadata={"model": "m"}),
    HumanMessage([{"type": "image_url", "image_url": {"url": "https://example.org/seat.png"}}]),
]


@pytest.fixture(scope="module")
def kept(service):
    """A namespace with some memories, and one message."""
    namespace = f"test-{uuid4().hex[:12]}"
    rows = [
        {"kind": "memory", "uid": f"seat-{number}", "text": f"Ada prefers window seats on flight {number}.",
         "tags": ["travel"], "attributes": {"flight": number}}
        for number in range(5)
    ]  # fmt: skip
    rows.append({"kind": "message", "uid": "said", "text": "Bo asked for window seats too.", "author": "Bo"})
    with LibrarianClient(**service.access) as client:
        assert client.ingest(rows, namespace=namespace).added == 6
    service.encode()
    return namespace


class TestRetriever(RetrieversIntegrationTests):
    """The standard tests."""

    @pytest.fixture(autouse=True)
    def _access(self, service, kept):
        self.params = {"namespace": kept, **service.access}

    @property
    def retriever_constructor(self):
        return LibrarianRetriever

    @property
    def retriever_constructor_params(self):
        return self.params

    @property
    def retriever_query_example(self):
        return "Which seats does Ada prefer?"

    @pytest.fixture
    async def retriever(self):
        async with LibrarianRetriever(**self.params) as retriever:
            yield retriever


def test_a_document_says_where_it_comes_from(service, kept):
    """Filters choose; the metadata holds who, when and how similar, and what was kept with the item."""
    retriever = LibrarianRetriever(namespace=kept, filters={"tags": ["travel"], "kinds": ["memory"]}, **service.access)
    found = retriever.invoke("window seats on flight 3")
    assert {document.id for document in found} == {f"seat-{number}" for number in range(5)}
    metadata = {document.id: document.metadata for document in found}["seat-3"]
    assert (metadata["kind"], metadata["tags"], metadata["attributes"]) == ("memory", ["travel"], {"flight": 3})
    assert 0 < metadata["similarity_score"] <= 1


@pytest.fixture
def history(service, namespace):
    return LibrarianChatMessageHistory("session 1", namespace=namespace, **service.access)


def test_messages_come_back_as_they_were(history, service, namespace):
    """Content of every shape, tool calls and metadata; another session has its own, and a search finds them."""
    history.add_messages(SAID[:4])
    assert history.messages == SAID[:4]
    history.add_messages(SAID[4:])
    assert history.messages == SAID
    assert LibrarianChatMessageHistory("session 2", namespace=namespace, **service.access).messages == []
    found = LibrarianRetriever(namespace=namespace, k=1, **service.access).invoke("Window seats since 2019")
    assert (found[0].page_content, found[0].metadata["role"]) == ("Window seats, since 2019.", "assistant")


def test_a_history_that_was_cleared_begins_anew(history):
    """The same message may be said again."""
    history.add_messages(SAID[:2])
    history.clear()
    assert history.messages == []
    history.add_messages([HumanMessage("Which seats does Ada like? She did not say so far.")])
    history.clear()
    history.add_messages([HumanMessage("Which seats does Ada like? She did not say so far.")])
    assert len(history.messages) == 1


async def test_it_works_in_an_event_loop(service, namespace):
    history = LibrarianChatMessageHistory("s", namespace=namespace, **service.access)
    await history.aadd_messages(SAID)
    assert await history.aget_messages() == SAID
    await history.aclear()
    assert await history.aget_messages() == []
    await history.aclose()


def test_a_model_is_asked_with_what_was_said(history):
    """In LangChain itself: the history feeds a model, and takes its answer as it is, usage and ids included."""
    model = FakeListChatModel(responses=["Hello Ada.", "You are Ada."])
    for said in ("I am Ada.", "Who am I?"):
        history.add_user_message(said)
        history.add_message(model.invoke(history.messages))
    assert [message.text for message in history.messages] == ["I am Ada.", "Hello Ada.", "Who am I?", "You are Ada."]
