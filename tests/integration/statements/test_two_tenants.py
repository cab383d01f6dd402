"""Poison: two namespaces with equal uids, equal texts and planted cross-edges; no statement may show one the other's
data.
"""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from cypher.loader import Statement, load
from graph.executor import Executor
from graph.tokens import required_clause
from graph.types import FOREVER, UNKNOWN_TIME, Kind
from librarian.app import Librarian
from librarian.items.contracts import LinkInput
from librarian.items.rows import new_edge
from librarian.search.contracts import SearchInput
from retrieval.files import file_query, lucene_words, some_words

OURS, THEIRS = "poison-tenant", "poison-tenants"  # an English stemmer folds the two names into one word
SECRET = "belongs to the other tenant"
# A deleted item takes the planted edges along that end at it.
TAKES_ITEMS = {"delete_namespace_items", "delete_namespace_rest"}
READ = sorted(
    (s for s in load().values() if s.scope == "namespace" and s.access == "read"), key=lambda statement: statement.name
)
WRITE = sorted(
    (s for s in load().values() if s.scope == "namespace" and s.access == "write"), key=lambda statement: statement.name
)


def rows(marker: str) -> list[dict[str, Any]]:
    return [
        {"kind": "message", "uid": "shared-1", "message_id": "shared-1", "conversation_id": "c", "author": "Ada",
         "text": f"the billing deploy failed 請求書 {marker}"},
        {"kind": "fact", "uid": "shared-2", "subject": "Ada", "predicate": "owns", "object": f"billing {marker}",
         "person_id": "ada", "evidence": ["shared-1", "file:shared/billing.py#L1-L2"]},
        {"kind": "memory", "uid": "shared-3", "text": f"Decision: billing moves {marker}", "type": "Decision",
         "domain": "billing"},
        {"kind": "fact", "uid": "shared-4", "subject": "Ada", "predicate": "owns", "object": f"deploys {marker}",
         "person_id": "ada"},
        {"kind": "memory", "uid": "shared-5", "text": f"Note: billing is paid {marker}",
         "expires_at": "2020-01-01T00:00:00Z"},
        {"kind": "edge", "source": "shared-1", "target": "shared-3", "type": "CAUSES"},
        {"kind": "edge", "source": "shared-1", "target": "shared-3", "type": "BLOCKS"},
        {"kind": "edge", "source": "shared-3", "target": "shared-1", "type": "CAUSES"},
    ]  # fmt: skip


@pytest.fixture(scope="module")
async def poisoned(librarian: Librarian, executor: Executor) -> AsyncIterator[Librarian]:
    for namespace, marker in ((OURS, "ours"), (THEIRS, SECRET)):

        async def lines(marker: str = marker) -> AsyncIterator[tuple[int, bytes]]:
            for number, row in enumerate(rows(marker), start=1):
                yield number, msgspec.json.encode(row)

        assert (await librarian.ingest(lines(), namespace=namespace)).failed == 0
        await librarian.put_file(namespace, "shared/billing.py", f"class Billing:\n    '''{marker}'''\n".encode())
    await librarian.embed_pending()
    await executor.driver.execute_query(
        "MATCH (a:Item {namespace: $a}), (b:Item {namespace: $b}) "
        "MERGE (a)-[:CAUSES {edge_id: a.uid + b.uid}]->(b) MERGE (a)-[:EVIDENCED_BY]->(b) MERGE (b)-[:SUPERSEDES]->(a) "
        "WITH a, b MATCH (b)-[:HAS_EMBEDDING]->(e) MERGE (a)-[:HAS_EMBEDDING]->(e)",
        {"a": OURS, "b": THEIRS},
    )
    await plant_sweeps(executor)
    await executor.driver.execute_query(
        "MATCH (m:Message) WHERE m.namespace IN $both SET m:PendingFacts", {"both": [OURS, THEIRS]}
    )
    await executor.driver.execute_query(
        "UNWIND [[$a, ''], [$b, $secret]] AS pair "
        "CREATE (:TombstoneSalts {namespace: pair[0], salts: ['00' + pair[1]]}) "
        "CREATE (:Tombstone {namespace: pair[0], identity: 'i', kind: 'memory' + pair[1], actor: pair[1], "
        "forgotten_at: datetime()})-[:HOLDS]->(:TombstoneMark {namespace: pair[0], mark: 'm', name: pair[1]})",
        {"a": OURS, "b": THEIRS, "secret": SECRET},
    )
    # Its name and numbers, and not only what it tells, must stay in a namespace.
    await executor.driver.execute_query(
        "MATCH (s:ChangeSet {namespace: $b}) SET s.changes = [$secret]", {"b": THEIRS, "secret": SECRET}
    )
    await executor.driver.execute_query(
        "UNWIND [[$a, ''], [$b, $secret]] AS pair "
        "CREATE (:Webhook {namespace: pair[0], webhook_id: 'w', url: 'https://hooks.example.com/' + pair[1], seq: 0, "
        "state: 'active', last_error: pair[1]})",
        {"a": OURS, "b": THEIRS, "secret": SECRET},
    )
    await executor.driver.execute_query("CREATE (:Lock {name: 'import of ' + $a, owner: 'o', done: 0})", {"a": OURS})
    yield librarian
    await executor.driver.execute_query(
        "MATCH (n) WHERE n.namespace IN $both OR n.name = 'import of ' + $a DETACH DELETE n",
        {"a": OURS, "both": [OURS, THEIRS]},
    )


async def plant_sweeps(executor: Executor) -> None:
    """A sweep in each namespace, that proposes a flag, a merge and an edge, and leads to the other's memory too; and a
    memory that was merged.
    """
    await executor.driver.execute_query(
        "UNWIND [[$a, $b], [$b, $a]] AS pair "
        "MATCH (one:Memory {namespace: pair[0], uid: 'shared-3'}) "
        "MATCH (other:Memory {namespace: pair[1], uid: 'shared-3'}) "
        "MATCH (fact:Fact {namespace: pair[0], uid: 'shared-2'}) "
        "CREATE (run:SweepRun {namespace: pair[0], sweep_id: $id, status: 'applied', config: one.text, "
        "progress: one.text, actor: one.text, started_at: datetime()}) "
        "CREATE (run)-[:CHANGED {namespace: pair[0], sweep_id: $id, seq: 0, action: 'flag', state: 'proposed', "
        "version: 1, reason: one.text}]->(one) "
        "CREATE (run)-[:CHANGED {namespace: pair[0], sweep_id: $id, seq: 1, action: 'flag', state: 'proposed', "
        "version: 1, reason: other.text}]->(other) "
        "CREATE (fact)-[:PROPOSED {edge_id: pair[0] + '-proposed', type: 'CAUSES', state: 'proposed', "
        "source_quote: fact.text, reason: fact.text}]->(one) "
        "CREATE (fact)-[:PROPOSED {edge_id: pair[0] + '-across', type: 'CAUSES', state: 'proposed', "
        "target_quote: other.text, reason: other.text}]->(other) "
        "CREATE (one)-[:HAS_REVISION]->(:Revision {namespace: pair[0], revision_id: 'merged shared-1', "
        "uid: 'shared-1', kind: 'memory', text: one.text, version: 1, reason: $id})",
        {"a": OURS, "b": THEIRS, "id": "sweep-20260101-001"},
    )


# The rows of statements that read by them; a writing one is asked with none.
ROWS = {
    "causal_edges": [{"source": "shared-1", "target": "shared-3"}],
    "chunks_named": [
        {"index": 0, "name": "billing.py", "suffix": "", "line": 1, "symbol": "", "key": ""},
        {"index": 1, "name": "", "suffix": "", "line": 1, "symbol": "Billing", "key": "billing"},
    ],
    "chunks_at": [{"path": "shared/billing.py", "first_line": 1, "last_line": 9}],
    "sweep_namesakes": [{"uid": "shared-1", "words": required_clause(OURS, ["memory"], None)}],
    # Only the message holds Japanese, and that index knows no other text.
    "sweep_namesakes_cjk": [{"uid": "shared-3", "words": required_clause(OURS, ["message"], None)}],
    "sweep_linked": [{"uid": "shared-1", "words": ["shared-3"]}],
    "sweep_known_pairs": [{"source": "shared-1", "target": "shared-3"}],
    "sweep_held_facts": [
        {"subject": "Ada", "predicate": "owns", "object": what} for what in ("billing ours", "deploys ours")
    ],
    "changes_since": [{"uid": "shared-3", "version": 1}],
    "open_facts": [{"uid": "new", "subject": "Ada", "predicate": "owns", "person_id": "ada"}],
    "find_tombstones": [{"uid": "shared-1", "identities": ["i"], "marks": ["m"]}],
    "pool_traits": [{"uid": uid, "queries": [0]} for uid in ("shared-1", "shared-2", "shared-3")],
}

# In which states things are asked for; None means any.
STATES = {
    "list_stale": ["current", "changed", "gone", "not_found"],
    "review_edges": ["open"],
    "review_changes": ["proposed"],
}


def parameters(statement: Statement, librarian: Librarian) -> dict[str, Any]:
    space = librarian.parts.space
    assert space is not None
    every = required_clause(OURS, [kind.value for kind in Kind], None)
    known = {
        "space": space.space, "version": 2,
        "namespace": OURS, "uid": "shared-1", "uids": ["shared-1", "shared-2", "shared-3"],
        "kinds": [kind.value for kind in Kind], "k": 100, "limit": 100, "vector": [1.0] * space.dimension,
        "vectors": [[1.0] * space.dimension], "english": f"{every} +(search_text:(billing))",
        "cjk": f"{every} +(search_text:(請求書))", "files": None, "occurred_from": UNKNOWN_TIME, "occurred_to": FOREVER,
        "unknown_time": UNKNOWN_TIME, "valid_after": UNKNOWN_TIME, "author_from": "", "author_to": "\U0010ffff",
        "conversation_from": "", "conversation_to": "\U0010ffff", "domain_from": "", "domain_to": "\U0010ffff",
        "key": "k", "owner": "o", "request_hash": "h", "response": "{}", "lease_s": 10, "keep_s": 10,
        "reason": "test", "actor": "test", "rows": ROWS.get(statement.name, []), "forever": FOREVER,
        "after_time": "0001-01-01T00:00:00Z",
        "sorts": ["edge", "supersede"], "refs": ["shared-1"],
        "source": "shared-1", "target": "shared-3", "type": "CAUSES", "anchor": "shared-1", "after": "",
        "edge_id": new_edge(OURS, LinkInput(source="shared-1", type="CAUSES", target="shared-3")).edge_id,
        "properties": {},
        "paths": ["shared/billing.py"], "folder": "shared/", "root": "", "name": "billing.py", "suffix": "",
        "absolute": "", "stems": [], "words": lucene_words(file_query("billing"), OURS), "prefix": "bill",
        "names": ["charge"], "told": some_words("outline", ["billing"], OURS), "needle": "billing",
        "languages": None, "included": None, "excluded": [], "skip": 0, "symbol": "billing",
        "states": STATES.get(statement.name),
        "sweep_id": "sweep-20260101-001", "seq": 0, "before": "t", "after_sweep": "", "after_seq": -1,
        "actions": ["flag", "merge"], "because": "",
        "predicates": ["owns"],
        "known_at": FOREVER if statement.name == "items_then" else None,
        "made_before": FOREVER, "with_vectors": True, "ids": [OURS + "-proposed"], "done": 1,
        "identities": ["i"], "marks": ["m"], "salts": ["00"], "always": True, "before_identity": "",
        "beginnings": ["ada owns deploys ours"], "chars": 40, "most": 9,
        "changes": ["{}"], "up_to": 1000, "older_than": FOREVER, "moment": FOREVER,
        "after_uid": "", "before_time": "9999-12-31T23:59:59Z", "before_uid": "", "doomed": [],
        "webhook_id": "w", "url": "https://hooks.example.com/",
    }  # fmt: skip
    if statement.name == "read_change_sets":
        known["after"] = 0
    return {name: known.get(name) for name in statement.params}


@pytest.mark.parametrize("statement", READ, ids=lambda statement: statement.name)
async def test_a_read_shows_nothing_of_the_other_tenant(statement: Statement, poisoned: Librarian, executor: Executor):
    """Whatever a read returns for one namespace holds no text of the other, although edges lead there."""
    space = poisoned.parts.space
    assert space is not None
    template = {name: value for name, value in vars_of(space).items() if name in statement.template}
    answer = await executor.fetch_all(statement.name, parameters(statement, poisoned), **template)
    assert SECRET not in str(answer)
    assert answer, "a statement that finds nothing proves nothing"


@pytest.mark.parametrize("statement", WRITE, ids=lambda statement: statement.name)
async def test_a_write_changes_nothing_of_the_other_tenant(
    statement: Statement, poisoned: Librarian, executor: Executor
):
    """Every node of the other namespace has the same properties and labels after the write as before."""
    space = poisoned.parts.space
    assert space is not None
    template = {name: value for name, value in vars_of(space).items() if name in statement.template}
    async with executor.driver.session() as session, await session.begin_transaction() as transaction:
        before = await snapshot(transaction)
        _, text = executor.prepare(statement.name, parameters(statement, poisoned), template)
        await (await transaction.run(text, given=parameters(statement, poisoned))).consume()
        after = await snapshot(transaction)
        await transaction.rollback()  # the next statement finds everything there
    if statement.name in TAKES_ITEMS:
        before, after = ([{**node, "degree": None} for node in nodes] for nodes in (before, after))
    assert after == before


@pytest.mark.parametrize("query", ["billing deploy", "請求書", SECRET, "Ada owns billing"])
async def test_a_search_shows_nothing_of_the_other_tenant(query: str, poisoned: Librarian):
    """Hits, evidence and explanations of one namespace hold nothing of the other."""
    answer = await poisoned.search(OURS, SearchInput(queries=[query], explain=True))
    answer.queries = []
    assert SECRET not in str(answer)
    of_rows = {hit.uid for hit in answer.results if hit.kind != "file_chunk"}
    assert of_rows <= {"shared-1", "shared-2", "shared-3", "shared-4"}
    assert all(len(hit.evidence) <= 2 for hit in answer.results)  # a message and lines of a file


def vars_of(space: Any) -> dict[str, Any]:
    return {"space": space.space, "dimension": space.dimension}


async def snapshot(transaction: Any) -> list[dict[str, Any]]:
    found = await transaction.run(
        "MATCH (n {namespace: $theirs}) RETURN labels(n) AS labels, properties(n) AS properties, "
        "COUNT { (n)--({namespace: $theirs}) } AS inside, COUNT { (n)--() } AS degree ORDER BY elementId(n)",
        {"theirs": THEIRS},
    )
    return [record.data() async for record in found]
