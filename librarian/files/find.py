"""Finding files by what they are called."""

from graph.executor import Executor
from graph.files import find_by_name, find_by_words
from librarian.files.contracts import FindFileInput, FindFileOutput
from retrieval.files import file_query, lucene_words, parameters, ranked

# Of one name there may be hundreds: the server gives those with the shortest paths, the best are chosen here.
_CANDIDATES = 200


async def find_file(executor: Executor, namespace: str, wanted: FindFileInput) -> FindFileOutput:
    """Return paths of files, best first: those that are called so, and only where there are none, those with such
    words.
    """
    query = file_query(wanted.name)
    paths = await find_by_name(executor, namespace, parameters(query), _CANDIDATES)
    if not paths and (words := lucene_words(query, namespace)) is not None:
        paths = await find_by_words(executor, namespace, words, _CANDIDATES)
    return FindFileOutput(namespace=namespace, name=wanted.name, paths=ranked(query, paths)[: wanted.limit])
