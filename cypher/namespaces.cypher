// Namespaces as a whole. A namespace exists as long as a node names it.

// fragment: parts
Item|Embedding|Revision|File|Symbol|Citation|Person|Conversation|SweepRun

// name: list_namespaces
// purpose: every namespace with its items, by kind, and how many of them wait for vectors
// params: none
// returns: namespace, kind, items, pending
// access: read
// scope: admin
CYPHER 25
// The conditions let the key's index answer; with kinds read from labels, no property is read.
MATCH (m:Item)
WHERE m.namespace IS NOT NULL AND m.uid IS NOT NULL
WITH m.namespace AS namespace,
  CASE WHEN m:Message THEN 'message' WHEN m:Fact THEN 'fact' WHEN m:Memory THEN 'memory' ELSE 'file_chunk' END AS kind,
  CASE WHEN m:PendingEmbedding THEN 1 ELSE 0 END AS waiting
RETURN namespace, kind, count(*) AS items, sum(waiting) AS pending
ORDER BY namespace, kind

// name: count_namespace
// purpose: counts of a namespace, and marks that differ after every change of an item or edge
// params: namespace
// returns: kind, items, edges, evidence_links, revisions, embeddings, versions, changed_at, linked_at
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item {namespace: $namespace})
WHERE m.uid IS NOT NULL
CALL (m) {
  OPTIONAL MATCH (m)-[r:CAUSES|BLOCKS|ENABLES|RELATES_TO|PROPOSED]->(target:Item {namespace: $namespace})
  RETURN count(r) AS edges, max(coalesce(r.reviewed_at, r.created_at)) AS linked_at
}
RETURN m.kind AS kind, count(*) AS items, sum(edges) AS edges,
  sum(COUNT { (m)-[:EVIDENCED_BY]->(source:Item {namespace: $namespace}) }) AS evidence_links,
  sum(COUNT { (m)-[:HAS_REVISION]->(:Revision {namespace: $namespace}) }) AS revisions,
  sum(COUNT { (m)-[:HAS_EMBEDDING]->(:Embedding {namespace: $namespace}) }) AS embeddings,
  sum(coalesce(m.version, 1)) AS versions, toString(max(coalesce(m.updated_at, m.created_at))) AS changed_at,
  toString(max(linked_at)) AS linked_at
ORDER BY kind

// name: sample_namespace
// purpose: some items of a namespace, to recognise it by
// params: namespace, limit
// returns: uid, kind, name
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item {namespace: $namespace})
WHERE m.uid IS NOT NULL
RETURN m.uid AS uid, m.kind AS kind, m.name AS name
ORDER BY uid LIMIT $limit

// name: namespace_exists
// purpose: whether any node names the namespace
// params: namespace
// returns: found
// access: read
// scope: namespace
CYPHER 25
RETURN EXISTS { MATCH (n:{{parts}}) WHERE n.namespace = $namespace } AS found

// name: snapshot_namespace_items
// purpose: every item with the version that it has; parts of files go with their files
// params: namespace
// returns: uid, version, holds_references (facts and memories), supersedes (uids of facts)
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item {namespace: $namespace})
WHERE m.uid IS NOT NULL AND NOT EXISTS { (:File {namespace: $namespace})-[:HAS_CHUNK]->(m) }
RETURN m.uid AS uid, coalesce(m.version, 1) AS version, m:Fact OR m:Memory AS holds_references,
  COLLECT { MATCH (m)-[:SUPERSEDES]->(older:Fact {namespace: $namespace}) RETURN older.uid } AS supersedes

// name: snapshot_namespace_files
// purpose: every file with the time at which it was stored, and the time of now
// params: namespace
// returns: path, indexed_at (as text; null for a path alone)
// access: read
// scope: namespace
CYPHER 25
MATCH (f:File {namespace: $namespace})
WHERE f.path IS NOT NULL
RETURN f.path AS path, toString(f.indexed_at) AS indexed_at ORDER BY path

// name: delete_namespace_unused
// purpose: delete some of the nodes that existed at a time and that no item or file needs
// params: namespace, made_before, limit (nodes)
// returns: deleted (nodes)
// access: write
// scope: namespace
CYPHER 25
MATCH (n:{{parts}})
WHERE n.namespace = $namespace AND NOT n:Item AND NOT n:File
  AND coalesce(n.created_at, n.started_at, n.revised_at, $made_before) <= $made_before
  AND NOT EXISTS { (n)--(:Item|File {namespace: $namespace}) }
WITH n LIMIT $limit
// Whoever needs one of them again holds its lock; what was drawn until then is seen below.
REMOVE n:Locked
WITH n
WHERE NOT EXISTS { (n)--(:Item|File {namespace: $namespace}) }
DETACH DELETE n
RETURN count(*) AS deleted

// name: delete_namespace_answers
// purpose: delete some of the kept answers, which hold texts; a request that still runs keeps its key, its own deletion too
// params: namespace, limit (nodes)
// returns: deleted (nodes)
// access: write
// scope: namespace
CYPHER 25
MATCH (record:IdempotencyRecord)
WHERE record.namespace = $namespace AND (record.response IS NOT NULL OR record.expires_at <= datetime.realtime())
WITH record LIMIT $limit
DELETE record
RETURN count(*) AS deleted

// name: delete_namespace_items
// purpose: delete some nodes: items, each after its vectors and revisions
// params: namespace, limit (nodes)
// returns: deleted (nodes), gone (list of [kind, uid] of items)
// access: write
// scope: namespace
CYPHER 25
MATCH (m:Item {namespace: $namespace})
WHERE m.uid IS NOT NULL
CALL (m) {
  MATCH (m)-[:HAS_EMBEDDING|HAS_REVISION]->(part)
  WHERE part.namespace = $namespace
  RETURN part AS node, null AS item
  UNION ALL
  RETURN m AS node, [m.kind, m.uid] AS item
}
WITH node, item LIMIT $limit
DETACH DELETE node
RETURN count(*) AS deleted, collect(item) AS gone

// name: delete_namespace_rest
// purpose: delete some of the nodes that are left when the items are gone
// params: namespace, limit (nodes)
// returns: deleted (nodes), gone (list of [file, path] of files)
// access: write
// scope: namespace
CYPHER 25
MATCH (n:{{parts}})
WHERE n.namespace = $namespace
WITH n, CASE WHEN n:File THEN ['file', n.path] END AS file LIMIT $limit
DETACH DELETE n
RETURN count(*) AS deleted, collect(file) AS gone
