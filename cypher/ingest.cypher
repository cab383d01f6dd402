// name: known_items
// purpose: which of these uids exist already, of which kind and from which source text
// params: namespace, uids
// returns: uid, kind, source_hash
// access: write
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})
RETURN m.uid AS uid, m.kind AS kind, m.source_hash AS source_hash

// name: put_messages
// purpose: create or replace messages, in their conversations
// params: namespace, rows (uid, properties, labels, conversation_id or null)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MERGE (m:Item {namespace: $namespace, uid: row.uid})
ON CREATE SET m.created_at = datetime()
SET m:Message:PendingEmbedding:$(row.labels), m += row.properties
WITH m, row
OPTIONAL MATCH (m)-[old:IN_CONVERSATION]->(left:Conversation {namespace: $namespace})
WHERE left.conversation_id <> coalesce(row.conversation_id, '')
SET left:Unlinked
DELETE old
WITH DISTINCT m, row
WHERE row.conversation_id IS NOT NULL
MERGE (c:Conversation {namespace: $namespace, conversation_id: row.conversation_id})
ON CREATE SET c.name = left(row.conversation_id, 60), c.created_at = datetime()
SET c:Unlinked
MERGE (m)-[:IN_CONVERSATION]->(c)

// name: put_facts
// purpose: create or replace facts and the people they are about
// params: namespace, rows (uid, properties, labels, person_id or null)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MERGE (m:Item {namespace: $namespace, uid: row.uid})
ON CREATE SET m.created_at = datetime()
SET m:Fact:PendingEmbedding:UnresolvedReferences:$(row.labels), m += row.properties
WITH m, row
OPTIONAL MATCH (m)-[old:ABOUT|EVIDENCED_BY|SUPERSEDES]->()
DELETE old
WITH DISTINCT m, row
WHERE row.person_id IS NOT NULL
MERGE (p:Person {namespace: $namespace, person_id: row.person_id})
ON CREATE SET p.name = left(row.person_id, 60), p.created_at = datetime()
MERGE (m)-[:ABOUT]->(p)

// name: put_memories
// purpose: create or replace memories
// params: namespace, rows (uid, properties, labels)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MERGE (m:Item {namespace: $namespace, uid: row.uid})
ON CREATE SET m.created_at = datetime()
SET m:Memory:PendingEmbedding:$(row.labels), m += row.properties

// name: keep_revisions
// purpose: keep what a fact or memory said before it is replaced
// params: namespace, uids, reason
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})
WHERE m:Fact OR m:Memory
CREATE (m)-[:HAS_REVISION]->(:Revision {
  namespace: $namespace, revision_id: randomUUID(), uid: m.uid, name: m.name, text: m.text, type: m.type,
  source_hash: m.source_hash, reason: $reason, created_at: datetime()})

// name: drop_embeddings
// purpose: forget the vectors of items whose text changed, and that an encoder refused the old one
// params: namespace, uids
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})
REMOVE m:EmbeddingRefused
WITH m
MATCH (m)-[:HAS_EMBEDDING]->(e:Embedding)
WHERE e.namespace = $namespace
DETACH DELETE e

// name: drop_cjk_labels
// purpose: items whose new text holds no CJK letters leave the cjk index
// params: namespace, uids
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})
REMOVE m:CjkText

// name: link_references
// purpose: connect facts to the evidence and the older facts they name, as far as those exist; complete ones lose their label
// params: namespace
// returns: waiting (facts whose references are not all found yet)
// access: write
// scope: namespace
CYPHER 25
MATCH (f:UnresolvedReferences {namespace: $namespace})
CALL (f) {
  UNWIND f.evidence_refs AS ref
  CALL (ref) {
    MATCH (source:Item {namespace: $namespace, uid: ref}) RETURN source
    UNION
    MATCH (source:Message {namespace: $namespace, message_id: ref}) RETURN source
  }
  MERGE (f)-[:EVIDENCED_BY]->(source)
  RETURN count(DISTINCT ref) AS evidence_found
}
CALL (f) {
  UNWIND f.supersedes_refs AS ref
  MATCH (older:Item:Fact {namespace: $namespace, uid: ref})
  WHERE older <> f
  MERGE (f)-[:SUPERSEDES]->(older)
  WITH f, ref, older
  WHERE f.valid_from IS NOT NULL AND older.valid_to > f.valid_from
  SET older.valid_to = f.valid_from
  WITH ref, older
  OPTIONAL MATCH (older)-[:HAS_EMBEDDING]->(e:Embedding {namespace: $namespace})
  SET e.valid_to = older.valid_to
  RETURN count(*) AS closed
}
WITH f, evidence_found, closed,
  COUNT { (f)-[:SUPERSEDES]->(older:Fact) WHERE older.namespace = $namespace } AS superseded
FOREACH (_ IN CASE WHEN evidence_found = size(f.evidence_refs) AND superseded = size(f.supersedes_refs) THEN [1] ELSE [] END |
  REMOVE f:UnresolvedReferences)
RETURN sum(CASE WHEN evidence_found = size(f.evidence_refs) AND superseded = size(f.supersedes_refs) THEN 0 ELSE 1 END) AS waiting

// name: put_edges
// purpose: create typed edges between existing items; an edge that is there keeps its id and who reviewed it
// params: namespace, rows (line, source, target, type, edge_id, properties)
// returns: line, created (boolean), found (both ends exist)
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
OPTIONAL MATCH (source:Item {namespace: $namespace, uid: row.source})
OPTIONAL MATCH (target:Item {namespace: $namespace, uid: row.target})
WITH row, source, target,
  EXISTS { (source)-[r:CAUSES|BLOCKS|ENABLES|RELATES_TO]->(target) WHERE type(r) = row.type } AS known
CALL (row, source, target, known) {
  WITH row, source, target, known
  WHERE source IS NOT NULL AND target IS NOT NULL AND NOT known
  MERGE (source)-[r:$(row.type)]->(target)
  ON CREATE SET r = row.properties, r.edge_id = row.edge_id, r.created_at = datetime()
}
RETURN row.line AS line, NOT known AS created, source IS NOT NULL AND target IS NOT NULL AS found

// name: link_conversation_order
// purpose: rebuild the NEXT order of one namespace's conversations that changed
// params: namespace, limit (conversations)
// returns: linked (conversations)
// access: write
// scope: namespace
CYPHER 25
MATCH (c:Unlinked {namespace: $namespace})
WITH c LIMIT $limit
// Taking the label first locks the conversation: of two that link it at once, the second sees what the first made.
REMOVE c:Unlinked
WITH c
CALL (c) {
  MATCH (c)<-[:IN_CONVERSATION]-(m:Message)-[old:NEXT]->()
  WHERE m.namespace = $namespace
  DELETE old
}
CALL (c) {
  MATCH (c)<-[:IN_CONVERSATION]-(m:Message)
  WHERE m.namespace = $namespace
  WITH m ORDER BY m.sent_at, m.position, m.uid
  WITH collect(m) AS turns
  UNWIND range(0, size(turns) - 2) AS i
  WITH turns[i] AS earlier, turns[i + 1] AS later
  CREATE (earlier)-[:NEXT]->(later)
}
RETURN count(c) AS linked
