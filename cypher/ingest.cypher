// name: known_items
// purpose: which of these uids exist already, of which kind and from which source text
// params: namespace, uids
// returns: uid, kind, source_hash
// access: write
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
CALL (uid) {
  MATCH (m:Item {namespace: $namespace, uid: uid})
  RETURN m.kind AS kind, m.source_hash AS source_hash
  UNION ALL
  // What a human has merged into another memory is there as its revision, as long as it comes as it was.
  MATCH (r:Revision {namespace: $namespace, revision_id: 'merged ' + uid})
  WHERE NOT EXISTS { (:Item {namespace: $namespace, uid: uid}) }
  RETURN r.kind AS kind, r.source_hash AS source_hash
}
RETURN uid, kind, source_hash

// name: claim_items
// purpose: create new items and lock all: later reads of them hold until the commit
// params: namespace, uids (sorted, so that two writers take locks in one order)
// returns: uid, kind (null for a new item), source_hash, version (0 for a new item)
// access: write
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MERGE (m:Item {namespace: $namespace, uid: uid})
ON CREATE SET m:PendingEmbedding, m.created_at = datetime(), m.version = 0
// Taking away a label that no node carries locks the node and changes nothing.
REMOVE m:Locked
RETURN m.uid AS uid, m.kind AS kind, m.source_hash AS source_hash, coalesce(m.version, 1) AS version

// name: put_messages
// purpose: create or replace claimed messages, in their conversations
// params: namespace, rows (uid, properties, labels, conversation_id or null)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (m:Item {namespace: $namespace, uid: row.uid})
SET m:Message:$(row.labels), m += row.properties
SET m.version = coalesce(m.version, 1) + 1, m.updated_at = datetime()
WITH m, row
OPTIONAL MATCH (m)-[old:IN_CONVERSATION]->(left:Conversation {namespace: $namespace})
WHERE left.conversation_id <> coalesce(row.conversation_id, '')
SET left:Unlinked
DELETE old
WITH DISTINCT m, row
OPTIONAL MATCH (m)-[order:NEXT]-()
WHERE row.conversation_id IS NULL
DELETE order
WITH DISTINCT m, row
WHERE row.conversation_id IS NOT NULL
MERGE (c:Conversation {namespace: $namespace, conversation_id: row.conversation_id})
ON CREATE SET c.name = left(row.conversation_id, 60), c.created_at = datetime()
SET c:Unlinked
MERGE (m)-[:IN_CONVERSATION]->(c)

// name: put_facts
// purpose: create or replace claimed facts and the people they are about; links of a replaced one are gone by then
// params: namespace, rows (uid, properties, labels, person_id or null), forever
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (m:Item {namespace: $namespace, uid: row.uid})
SET m:Fact:UnresolvedReferences:$(row.labels), m += row.properties
FOREACH (_ IN CASE WHEN m.version > 0 OR m.valid_to < $forever THEN [1] ELSE [] END | SET m:Unsettled)
SET m.version = coalesce(m.version, 1) + 1, m.updated_at = datetime()
WITH m, row
WHERE row.person_id IS NOT NULL
MERGE (p:Person {namespace: $namespace, person_id: row.person_id})
ON CREATE SET p.name = left(row.person_id, 60), p.created_at = datetime()
MERGE (m)-[:ABOUT]->(p)

// name: put_memories
// purpose: create or replace claimed memories
// params: namespace, rows (uid, properties, labels)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (m:Item {namespace: $namespace, uid: row.uid})
SET m:Memory:$(row.labels), m += row.properties
FOREACH (_ IN CASE WHEN size(m.evidence_refs) > 0 THEN [1] ELSE [] END | SET m:UnresolvedReferences)
FOREACH (_ IN CASE WHEN m.version > 0 THEN [1] ELSE [] END | SET m:Unsettled)
SET m.version = coalesce(m.version, 1) + 1, m.updated_at = datetime()

// name: keep_revisions
// purpose: keep revisions of facts and memories before a change, without properties derived for full text
// params: namespace, uids, reason, actor
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})
WHERE m:Fact OR m:Memory
CREATE (m)-[:HAS_REVISION]->(r:Revision)
SET r = m {.*, tokens: null, search_text: null, version: coalesce(m.version, 1), revision_id: randomUUID(),
  reason: $reason, actor: $actor, revised_at: datetime()}

// name: drop_stale_embeddings
// purpose: items that will say something else to an encoder lose their vectors, and that it refused the old text
// params: namespace, rows (uid, properties)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (m:Item {namespace: $namespace, uid: row.uid})
WHERE coalesce(m.text, '') <> row.properties.text
  OR coalesce(m.caption, '') <> coalesce(row.properties.caption, '')
  OR coalesce(m.author_name, '') <> coalesce(row.properties.author_name, '')
REMOVE m:EmbeddingRefused
SET m:PendingEmbedding
WITH m
MATCH (m)-[:HAS_EMBEDDING]->(e:Embedding)
WHERE e.namespace = $namespace
DETACH DELETE e

// name: copy_to_embeddings
// purpose: the vectors that replaced items keep get the filter properties which those items have now
// params: namespace, uids, unknown_time, forever
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})-[:HAS_EMBEDDING]->(e:Embedding)
WHERE e.namespace = $namespace
SET e.author = coalesce(m.author_name, ''), e.conversation = coalesce(m.conversation_id, ''),
  e.domain = coalesce(m.domain, ''), e.occurred_at = coalesce(m.occurred_at, $unknown_time),
  e.valid_to = coalesce(m.valid_to, $forever)

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

// fragment: reopen_superseded
CALL (f) {
    MATCH (f)-[closing:SUPERSEDES]->(older:Fact)
    WHERE older.namespace = $namespace AND closing.former_valid_to IS NOT NULL
    REMOVE older:Locked
    WITH f, closing, older
    OPTIONAL MATCH (other:Fact)-[also:SUPERSEDES]->(older)
    WHERE other.namespace = $namespace AND other <> f
    // Whatever else supersedes the older fact closes it anew when references are linked next.
    SET other:UnresolvedReferences
    FOREACH (_ IN CASE WHEN also.former_valid_to = f.valid_from THEN [1] ELSE [] END |
      SET also.former_valid_to = closing.former_valid_to)
    WITH DISTINCT f, closing, older
    WHERE older.valid_to = f.valid_from
    SET older:Unsettled:Relinked, older.valid_to = closing.former_valid_to
    SET older.version = coalesce(older.version, 1) + 1, older.updated_at = datetime()
    WITH older
    OPTIONAL MATCH (older)-[:HAS_EMBEDDING]->(e:Embedding)
    WHERE e.namespace = $namespace
    SET e.valid_to = older.valid_to
  }

// name: unlink_facts
// purpose: before facts and memories are replaced: facts they superseded hold again, and their links wait to be drawn from the new row; items with the same text and citations keep citing the versions of that time
// params: namespace, rows (uid, properties)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (f:Item {namespace: $namespace, uid: row.uid})
WHERE f:Fact OR f:Memory
{{reopen_superseded}}
CALL (f) {
  MATCH (newer:Fact)-[closing:SUPERSEDES]->(f)
  WHERE newer.namespace = $namespace
  REMOVE closing.former_valid_to
  SET newer:UnresolvedReferences
}
CALL (f, row) {
  MATCH (f)-[old:ABOUT|EVIDENCED_BY|SUPERSEDES]->(named)
  WHERE named.namespace = $namespace AND NOT (old:EVIDENCED_BY AND old.ref IS NULL AND f.text = row.properties.text
    AND coalesce(any(ref IN row.properties.evidence_refs WHERE ref = named.uid OR ref = named.message_id), false))
  FOREACH (_ IN CASE WHEN old:ABOUT THEN [] ELSE [1] END | SET named:Unsettled)
  DELETE old
}

// name: link_references
// purpose: connect items to the evidence and the older facts they name, as far as those exist; complete ones lose their label
// params: namespace
// returns: waiting (items whose references are not all found yet)
// access: write
// scope: namespace
CYPHER 25
MATCH (f:UnresolvedReferences {namespace: $namespace})
CALL (f) {
  UNWIND [ref IN coalesce(f.evidence_refs, []) WHERE NOT ref STARTS WITH 'file:'] AS ref
  CALL (ref) {
    MATCH (source:Item {namespace: $namespace, uid: ref}) RETURN source
    UNION
    MATCH (source:Message {namespace: $namespace, message_id: ref}) RETURN source
  }
  MERGE (f)-[link:EVIDENCED_BY]->(source)
  // By the version is known whether the source was corrected since.
  ON CREATE SET f:Unsettled, link.version = coalesce(source.version, 1)
  RETURN count(DISTINCT ref) AS evidence_found
}
CALL (f) {
  UNWIND f.supersedes_refs AS ref
  MATCH (older:Item:Fact {namespace: $namespace, uid: ref})
  WHERE older <> f
  MERGE (f)-[closing:SUPERSEDES]->(older)
  ON CREATE SET f:Unsettled, older:Unsettled:Relinked, closing.created_at = datetime()
  WITH f, closing, older
  WHERE f.valid_from IS NOT NULL AND older.valid_to > f.valid_from
  // Kept for the day when the newer fact goes.
  SET closing.former_valid_to = older.valid_to
  SET older:Relinked, older.valid_to = f.valid_from
  SET older.version = coalesce(older.version, 1) + 1, older.updated_at = datetime()
  WITH older
  OPTIONAL MATCH (older)-[:HAS_EMBEDDING]->(e:Embedding {namespace: $namespace})
  SET e.valid_to = older.valid_to
  RETURN count(*) AS closed
}
WITH f, COUNT { (f)-[:SUPERSEDES]->(older:Fact) WHERE older.namespace = $namespace } AS superseded,
  // Lines of files are linked with their files.
  evidence_found = size([ref IN coalesce(f.evidence_refs, []) WHERE NOT ref STARTS WITH 'file:']) AS evidenced
WITH f, evidenced AND superseded = coalesce(size(f.supersedes_refs), 0) AS complete
FOREACH (_ IN CASE WHEN complete THEN [1] ELSE [] END |
  REMOVE f:UnresolvedReferences)
RETURN sum(CASE WHEN complete THEN 0 ELSE 1 END) AS waiting

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
