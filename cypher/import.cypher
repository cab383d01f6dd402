// Writing what export.cypher reads. Nothing that is there is changed. An import that is under way has a mark: a Lock
// without an end, whose owner is the file and whose `done` counts the rows that are settled. Each chunk moves it on in its own
// transaction, so that an interrupted import goes on where it stopped.

// name: begin_import
// purpose: mark a namespace as being imported into, unless it is already
// params: namespace, owner (the file)
// returns: owner (whose import it is), done (rows settled by an interrupted run)
// access: write
// scope: namespace
CYPHER 25
MERGE (mark:Lock {name: 'import of ' + $namespace})
SET mark.asked_at = datetime.realtime()
SET mark.owner = coalesce(mark.owner, $owner), mark.done = coalesce(mark.done, 0)
RETURN mark.owner AS owner, mark.done AS done

// name: read_import
// purpose: the unfinished import of a namespace; nothing where there is none
// params: namespace
// returns: owner (the file), done (rows)
// access: read
// scope: namespace
CYPHER 25
MATCH (mark:Lock {name: 'import of ' + $namespace})
RETURN mark.owner AS owner, mark.done AS done

// name: list_imports
// purpose: the unfinished imports of all namespaces
// params: none
// returns: namespace, done (rows)
// access: read
// scope: admin
CYPHER 25
MATCH (mark:Lock)
WHERE mark.name STARTS WITH 'import of '
RETURN substring(mark.name, size('import of ')) AS namespace, mark.done AS done ORDER BY namespace

// name: advance_import
// purpose: record the number of settled rows, in the transaction that wrote them and only while the import is ours
// params: namespace, owner, done
// returns: one row if it was still ours
// access: write
// scope: namespace
CYPHER 25
MATCH (mark:Lock {name: 'import of ' + $namespace})
SET mark.asked_at = datetime.realtime()
WITH mark
WHERE mark.owner = $owner
SET mark.done = $done
RETURN mark.done AS done

// name: end_import
// purpose: take the mark away: the import is complete, or given up
// params: namespace
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
MATCH (mark:Lock {name: 'import of ' + $namespace})
DELETE mark

// name: import_conversations
// purpose: create conversations; the order of their messages waits to be made
// params: namespace, rows (id, properties)
// returns: created
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
OPTIONAL MATCH (known:Conversation {namespace: $namespace, conversation_id: row.id})
WITH row, known IS NULL AS created
MERGE (c:Conversation {namespace: $namespace, conversation_id: row.id})
ON CREATE SET c += row.properties
SET c:Unlinked
RETURN sum(CASE WHEN created THEN 1 ELSE 0 END) AS created

// name: import_people
// purpose: create people
// params: namespace, rows (id, properties)
// returns: created
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
OPTIONAL MATCH (known:Person {namespace: $namespace, person_id: row.id})
WITH row, known IS NULL AS created
MERGE (p:Person {namespace: $namespace, person_id: row.id})
ON CREATE SET p += row.properties
RETURN sum(CASE WHEN created THEN 1 ELSE 0 END) AS created

// name: import_files
// purpose: create missing files, with their definitions
// params: namespace, rows (path, properties, symbols)
// returns: created (paths)
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
WITH row
WHERE NOT EXISTS { (:File {namespace: $namespace, path: row.path}) }
CREATE (f:File {namespace: $namespace, path: row.path})
SET f += row.properties
WITH f, row
CALL (f, row) {
  UNWIND row.symbols AS symbol
  CREATE (f)-[:DEFINES]->(s:Symbol {namespace: $namespace, path: row.path})
  SET s += symbol
}
RETURN collect(f.path) AS created

// name: import_known
// purpose: which of these uids are there
// params: namespace, uids
// returns: uid
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})
RETURN m.uid AS uid

// name: import_items
// purpose: create items that are not there, each with its conversation, person and file
// params: namespace, rows (uid, labels, properties, moments: times of UTC as text by name, conversation, person, file: keys, or null)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
CREATE (m:Item:$(row.labels) {namespace: $namespace, uid: row.uid})
SET m += row.properties
FOREACH (name IN keys(row.moments) | SET m[name] = datetime(row.moments[name]))
WITH m, row
CALL (m, row) {
  WITH m, row
  WHERE row.conversation IS NOT NULL
  MERGE (c:Conversation {namespace: $namespace, conversation_id: row.conversation})
  SET c:Unlinked
  CREATE (m)-[:IN_CONVERSATION]->(c)
}
CALL (m, row) {
  WITH m, row
  WHERE row.person IS NOT NULL
  MERGE (p:Person {namespace: $namespace, person_id: row.person})
  CREATE (m)-[:ABOUT]->(p)
}
CALL (m, row) {
  WITH m, row
  WHERE row.file IS NOT NULL
  MERGE (f:File {namespace: $namespace, path: row.file})
  CREATE (f)-[:HAS_CHUNK]->(m)
}

// name: import_parts
// purpose: the history and the citations of items that were just created
// params: namespace, rows (uid, revisions, citations)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (m:Item {namespace: $namespace, uid: row.uid})
CALL (m, row) {
  UNWIND row.revisions AS properties
  CREATE (m)-[:HAS_REVISION]->(r:Revision {namespace: $namespace})
  SET r += properties
}
CALL (m, row) {
  UNWIND row.citations AS properties
  CREATE (m)-[:CITES]->(n:Citation {namespace: $namespace, uid: row.uid, ref: properties.ref})
  SET n += properties
}

// name: import_vectors
// purpose: the vectors of one space, of items that were just created; where the space is the active one they wait for none
// params: namespace, space, rows (uid, vectors: list of {role, ordinal, vector}), unknown_time, forever
// returns: nothing
// access: write
// scope: namespace
// template: space
CYPHER 25
MATCH (s:EmbeddingSpace {space: $space})
UNWIND $rows AS row
MATCH (m:Item {namespace: $namespace, uid: row.uid})
FOREACH (_ IN CASE WHEN s.active THEN [1] ELSE [] END | REMOVE m:PendingEmbedding)
WITH m, row
UNWIND row.vectors AS passage
CREATE (m)-[:HAS_EMBEDDING]->(e:Embedding:Embedding_{{space}} {
  namespace: m.namespace, uid: m.uid, name: 'vector', kind: m.kind, space: $space, role: passage.role, ordinal: passage.ordinal,
  author: coalesce(m.author_name, ''), conversation: coalesce(m.conversation_id, ''), domain: coalesce(m.domain, ''),
  occurred_at: coalesce(m.occurred_at, $unknown_time), valid_to: coalesce(m.valid_to, $forever)})
WITH e, passage
CALL db.create.setNodeVectorProperty(e, 'vector', passage.vector)

// name: import_refusals
// purpose: that encoders took no vector of items that were just created
// params: namespace, rows (uid, space, version, language: may be null)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (m:Item {namespace: $namespace, uid: row.uid}), (s:EmbeddingSpace {space: row.space})
CREATE (m)-[r:REFUSED_BY]->(s)
SET r.version = row.version, r.language = row.language
WITH m, s
WHERE s.active
REMOVE m:PendingEmbedding
SET m:EmbeddingRefused

// name: import_sweeps
// purpose: create runs of the sweep that are not there
// params: namespace, rows (id, properties)
// returns: created
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
WITH row
WHERE NOT EXISTS { (:SweepRun {namespace: $namespace, sweep_id: row.id}) }
CREATE (run:SweepRun {namespace: $namespace, sweep_id: row.id})
SET run += row.properties
RETURN count(run) AS created

// name: import_changes
// purpose: changes that runs of the sweep made to memories
// params: namespace, rows (sweep, uid, properties)
// returns: created
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (run:SweepRun {namespace: $namespace, sweep_id: row.sweep})
MATCH (m:Item {namespace: $namespace, uid: row.uid})
CREATE (run)-[c:CHANGED]->(m)
SET c = row.properties, c.namespace = $namespace, c.sweep_id = row.sweep
RETURN count(c) AS created

// name: import_known_edges
// purpose: those of these ids that edges of a namespace have, of any type
// params: namespace, ids
// returns: id
// access: read
// scope: namespace
CYPHER 25
UNWIND $ids AS id
CALL (id) {
  MATCH (source:Item)-[r:CAUSES {edge_id: id}]->() WHERE source.namespace = $namespace RETURN r.edge_id AS known
  UNION
  MATCH (source:Item)-[r:BLOCKS {edge_id: id}]->() WHERE source.namespace = $namespace RETURN r.edge_id AS known
  UNION
  MATCH (source:Item)-[r:ENABLES {edge_id: id}]->() WHERE source.namespace = $namespace RETURN r.edge_id AS known
  UNION
  MATCH (source:Item)-[r:RELATES_TO {edge_id: id}]->() WHERE source.namespace = $namespace RETURN r.edge_id AS known
  UNION
  MATCH (source:Item)-[r:PROPOSED {edge_id: id}]->() WHERE source.namespace = $namespace RETURN r.edge_id AS known
}
RETURN DISTINCT known AS id

// name: import_edges
// purpose: create missing relationships between items; items that lose or regain support through them become unsettled
// params: namespace, rows (source, type, target, properties)
// returns: created, edges (typed ones among them: list of {edge_id, type, label, source, target})
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (source:Item {namespace: $namespace, uid: row.source})
MATCH (target:Item {namespace: $namespace, uid: row.target})
WHERE NOT EXISTS {
  (source)-[known:EVIDENCED_BY|SUPERSEDES|{{kinds}}]->(target)
  WHERE type(known) = row.type AND coalesce(known.type, '') = coalesce(row.properties.type, '')
    AND coalesce(known.ref, '') = coalesce(row.properties.ref, '')
}
CREATE (source)-[r:$(row.type)]->(target)
SET r = row.properties
// All else comes with its marks.
FOREACH (_ IN CASE WHEN row.type = 'EVIDENCED_BY' AND source.support_ends IS NOT NULL THEN [1] ELSE [] END |
  SET source:Unsettled)
FOREACH (_ IN CASE WHEN row.type = 'SUPERSEDES' THEN [1] ELSE [] END | SET target:Unsettled)
RETURN count(r) AS created, collect(CASE WHEN r.edge_id IS NOT NULL THEN
  {edge_id: r.edge_id, type: {{edge_type}}, label: type(r), source: source.uid, target: target.uid} END) AS edges
