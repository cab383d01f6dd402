"""Librarian's own search as the tool of the search agent."""

from librarian.agent.own_search import OwnSearch
from librarian.search.contracts import Hit, SearchOutput


async def test_a_message_says_who_wrote_it():
    """The agent weighs it as part of the text: a question names the one who said it. A part of a file has its path."""
    said = Hit(uid="m", kind="message", score=1.0, similarity_score=None, content="I went camping.", author_name="Mel")
    part = Hit(uid="c", kind="file_chunk", score=0.5, similarity_score=None, content="x = 1", path="a.py")

    async def find(wanted):
        return SearchOutput(
            namespace="n", queries=wanted.queries, results=[said, part], arms={}, reranked=False, notes=[]
        )

    found = await OwnSearch(find).search("Where did Mel camp?")
    assert [candidate.source for candidate in found] == ["Mel", "a.py"]
