// Reading a namespace whole, page by page, for a file that holds everything. `made_before` is the moment that the file
// is of: what was created later is left out, so that whoever goes on writing does not blur it. Nodes come before the
// edges between them: an edge that is read leads to nodes that were read.

// name: export_namespaces
// purpose: every namespace that anything names, items or not
// params: none
// returns: namespace
// access: read
// scope: admin
CYPHER 25
MATCH (n:Item|File|Person|Conversation|SweepRun)
WHERE n.namespace IS NOT NULL
RETURN DISTINCT n.namespace AS namespace ORDER BY namespace

// name: running_transactions
// purpose: the transactions that run at this moment, this one included
// params: none
// returns: id
// access: read
// scope: admin
SHOW TRANSACTIONS YIELD transactionId
RETURN transactionId AS id

// name: export_marks
// purpose: contents of a namespace before a moment, as figures that differ once any of it was changed or deleted
// params: namespace, made_before
// returns: part, items (for the parts that are kinds of items, else null), marks
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item {namespace: $namespace})
WHERE m.uid IS NOT NULL AND coalesce(m.created_at < $made_before, true)
CALL (m) {
  OPTIONAL MATCH (m)-[r:{{kinds}}]->(target:Item {namespace: $namespace})
  WHERE coalesce(target.created_at < $made_before, true)
  RETURN count(r) AS edges, max(coalesce(r.reviewed_at, r.created_at)) AS linked_at
}
WITH m.kind AS part, count(*) AS items, sum(coalesce(m.version, 1)) AS versions, sum(edges) AS edges,
  max(linked_at) AS linked_at,
  sum(COUNT { (m)-[:EVIDENCED_BY|SUPERSEDES]->(source:Item {namespace: $namespace})
    WHERE coalesce(source.created_at < $made_before, true) }) AS links,
  sum(COUNT { (m)-[:HAS_REVISION]->(:Revision {namespace: $namespace}) }) AS revisions
RETURN part, items, [items, versions, edges, toString(linked_at), links, revisions] AS marks
UNION ALL
MATCH (f:File {namespace: $namespace})
WHERE coalesce(f.indexed_at < $made_before, true)
RETURN 'files' AS part, null AS items, [count(f), count(f.indexed_at), toString(max(f.indexed_at))] AS marks
UNION ALL
MATCH (n:Citation {namespace: $namespace})
WITH n.state AS state, count(n) AS citations ORDER BY state
RETURN 'citations' AS part, null AS items, collect(coalesce(state, '') + ' ' + citations) AS marks
UNION ALL
MATCH (run:SweepRun {namespace: $namespace})
WHERE run.started_at < $made_before
WITH run ORDER BY run.sweep_id
RETURN 'sweeps' AS part, null AS items, collect(run.sweep_id + ' ' + coalesce(run.status, '') + ' ' + coalesce(run.progress, '')) AS marks
UNION ALL
MATCH (:SweepRun)-[c:CHANGED]->(:Item {namespace: $namespace})
WHERE c.namespace = $namespace
WITH c.state AS state, count(c) AS changes ORDER BY state
RETURN 'changes' AS part, null AS items, collect(coalesce(state, '') + ' ' + changes) AS marks

// name: export_spaces
// purpose: the embedding spaces that hold vectors of a namespace, or whose encoder refused texts of it
// params: namespace
// returns: properties (of a space)
// access: read
// scope: namespace
CYPHER 25
MATCH (s:EmbeddingSpace)
WHERE EXISTS { (m:Item {namespace: $namespace})-[:HAS_EMBEDDING]->(e:Embedding {namespace: $namespace, space: s.space}) }
  OR EXISTS { (m:Item {namespace: $namespace})-[:REFUSED_BY]->(s) }
RETURN s {.space, .model, .dimension, .text_form, .normalised, .revision} AS properties ORDER BY s.space

// name: export_conversations
// purpose: a page of conversations
// params: namespace, made_before, after (conversation_id), limit
// returns: id, properties
// access: read
// scope: namespace
CYPHER 25
MATCH (c:Conversation {namespace: $namespace})
WHERE c.conversation_id > $after AND coalesce(c.created_at < $made_before, true)
RETURN c.conversation_id AS id, c {.*, namespace: null, conversation_id: null} AS properties
ORDER BY c.namespace, c.conversation_id LIMIT $limit

// name: export_people
// purpose: a page of people
// params: namespace, made_before, after (person_id), limit
// returns: id, properties
// access: read
// scope: namespace
CYPHER 25
MATCH (p:Person {namespace: $namespace})
WHERE p.person_id > $after AND coalesce(p.created_at < $made_before, true)
RETURN p.person_id AS id, p {.*, namespace: null, person_id: null} AS properties
ORDER BY p.namespace, p.person_id LIMIT $limit

// name: export_files
// purpose: a page of files with their definitions
// params: namespace, made_before, after (path), limit
// returns: path, properties, symbols
// access: read
// scope: namespace
CYPHER 25
MATCH (f:File {namespace: $namespace})
WHERE f.path > $after AND coalesce(f.indexed_at < $made_before, true)
WITH f ORDER BY f.namespace, f.path LIMIT $limit
RETURN f.path AS path, f {.*, namespace: null, path: null, tokens: null} AS properties,
  COLLECT {
    MATCH (f)-[:DEFINES]->(s:Symbol {namespace: $namespace})
    RETURN s {.*, namespace: null, path: null} ORDER BY s.line, s.end_line, s.name, s.kind
  } AS symbols

// name: export_items
// purpose: a page of items, each with all that hangs on it: history, citations, and vectors where they are asked for
// params: namespace, made_before, after (uid), limit, with_vectors (boolean)
// returns: uid, kind, properties (list of [name, value]; a time of UTC as {utc: text}), cjk, unresolved, conversation, person, file (keys, or null), citations, revisions, vectors (list of {space, role, ordinal, vector}), refused (list of {space, version, language: may be null})
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item)
USING INDEX m:Item(namespace, uid)
WHERE m.namespace = $namespace AND m.uid > $after AND coalesce(m.created_at < $made_before, true)
WITH m ORDER BY m.namespace, m.uid LIMIT $limit
RETURN m.uid AS uid, m.kind AS kind,
  // Times as the text that the file gets: the driver takes 60 us to make one of its objects.
  [name IN keys(m) WHERE NOT name IN ['namespace', 'uid', 'kind', 'tokens'] | [name,
    CASE WHEN m[name] IS :: ZONED DATETIME
      THEN CASE m[name].timezone WHEN 'Z' THEN {utc: toString(m[name])} ELSE m[name] END
      ELSE m[name] END]] AS properties,
  m:CjkText AS cjk,
  // What was linked only after the moment is to be linked again wherever the file is read.
  m:UnresolvedReferences OR EXISTS {
    (m)-[:EVIDENCED_BY|SUPERSEDES]->(later:Item {namespace: $namespace}) WHERE later.created_at >= $made_before
  } AS unresolved,
  head(COLLECT { MATCH (m)-[:IN_CONVERSATION]->(c:Conversation {namespace: $namespace}) RETURN c.conversation_id }) AS conversation,
  head(COLLECT { MATCH (m)-[:ABOUT]->(p:Person {namespace: $namespace}) RETURN p.person_id }) AS person,
  head(COLLECT { MATCH (m)<-[:HAS_CHUNK]-(f:File {namespace: $namespace}) RETURN f.path }) AS file,
  COLLECT {
    MATCH (m)-[:CITES]->(n:Citation {namespace: $namespace})
    RETURN n {.*, namespace: null, uid: null} ORDER BY n.ref
  } AS citations,
  COLLECT {
    MATCH (m)-[:HAS_REVISION]->(r:Revision {namespace: $namespace})
    WHERE coalesce(r.revised_at < $made_before, true)
    RETURN r {.*, namespace: null} ORDER BY r.revision_id
  } AS revisions,
  COLLECT {
    MATCH (m)-[:HAS_EMBEDDING]->(e:Embedding)
    WHERE $with_vectors AND e.namespace = $namespace
    RETURN e {.space, .role, .ordinal, vector: vector(e.vector, size(e.vector), FLOAT32)} ORDER BY e.space, e.role, e.ordinal
  } AS vectors,
  COLLECT {
    MATCH (m)-[r:REFUSED_BY]->(s:EmbeddingSpace)
    WHERE $with_vectors
    RETURN {space: s.space, version: r.version, language: r.language} ORDER BY s.space
  } AS refused
ORDER BY uid

// name: export_sweeps
// purpose: a page of the runs of the sweep
// params: namespace, made_before, after (sweep_id), limit
// returns: id, properties
// access: read
// scope: namespace
CYPHER 25
MATCH (run:SweepRun {namespace: $namespace})
WHERE run.sweep_id > $after AND run.started_at < $made_before
RETURN run.sweep_id AS id, run {.*, namespace: null, sweep_id: null} AS properties
ORDER BY run.namespace, run.sweep_id LIMIT $limit

// name: export_edges
// purpose: for each item of a page the relationships that lead from it to other items, NEXT apart: that order is made anew
// params: namespace, made_before, after (uid), limit
// returns: source, edges (list of {type, target, properties})
// access: read
// scope: namespace
CYPHER 25
MATCH (source:Item)
USING INDEX source:Item(namespace, uid)
WHERE source.namespace = $namespace AND source.uid > $after AND coalesce(source.created_at < $made_before, true)
WITH source ORDER BY source.namespace, source.uid LIMIT $limit
RETURN source.uid AS source,
  COLLECT {
    MATCH (source)-[r:EVIDENCED_BY|SUPERSEDES|{{kinds}}]->(target:Item {namespace: $namespace})
    WHERE coalesce(target.created_at < $made_before, true)
    RETURN {type: type(r), target: target.uid, properties: properties(r)}
  } AS edges
ORDER BY source
