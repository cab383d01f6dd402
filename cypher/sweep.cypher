// The sweep: pages of memories, what may be related to them, and runs with all they changed. A run's changes are CHANGED
// relationships, numbered by `seq`, so that they go when their memory goes.

// fragment: of_sweep
m.namespace = $namespace AND {{chosen}}
    AND ($domains IS NULL OR m.domain IN $domains)
    AND ($min_importance IS NULL OR m.importance >= $min_importance)

// name: sweep_page
// purpose: a page of the memories in a sweep's scope, in the order in which they were stored
// params: namespace, kinds, types, authors, conversation_id, session_id, person_id, domain, tags, agent, path_prefix, occurred_from, occurred_to, unknown_time, as_of, known_at, expired, resembling, domains, min_importance, after_time (as text), after_uid, limit
// returns: item, created_at (as text), reviewed (a human has decided on a proposal about it), proposed (actions of open proposals), facts (ids of those found in it)
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item)
USING INDEX m:Item(namespace, created_at, uid)
WHERE m.namespace = $namespace AND m.created_at >= datetime($after_time) AND m.uid IS NOT NULL
  AND CASE WHEN m.created_at = datetime($after_time) THEN m.uid > $after_uid ELSE true END
  AND {{of_sweep}}
WITH m ORDER BY m.namespace, m.created_at, m.uid LIMIT $limit
RETURN m {.*, tokens: null, search_text: null} AS item, toString(m.created_at) AS created_at,
  EXISTS { (m)<-[c:CHANGED]-(:SweepRun) WHERE c.reviewed_by IS NOT NULL } AS reviewed,
  COLLECT { MATCH (m)<-[c:CHANGED]-(:SweepRun) WHERE c.state = 'proposed' RETURN DISTINCT c.action } AS proposed,
  COLLECT { MATCH (m)<-[c:CHANGED]-(:SweepRun) WHERE c.fact_id IS NOT NULL AND c.state <> 'undone' RETURN c.fact_id } AS facts

// name: namespaces_to_read
// purpose: namespaces with messages that were not read for facts yet
// params: limit
// returns: namespace
// access: read
// scope: admin
CYPHER 25
MATCH (m:PendingFacts)
RETURN DISTINCT m.namespace AS namespace LIMIT $limit

// name: messages_to_read
// purpose: some messages that were not read for facts yet
// params: namespace, limit
// returns: item, created_at (as text), facts (ids of those found in it)
// access: read
// scope: namespace
CYPHER 25
MATCH (m:PendingFacts)
WHERE m.namespace = $namespace
WITH m LIMIT $limit
RETURN m {.*, tokens: null, search_text: null} AS item, toString(m.created_at) AS created_at,
  COLLECT { MATCH (m)<-[c:CHANGED]-(:SweepRun) WHERE c.fact_id IS NOT NULL AND c.state <> 'undone' RETURN c.fact_id } AS facts

// name: have_read
// purpose: messages were read for facts, as far as they have these versions
// params: namespace, rows (uid, version)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (m:Item {namespace: $namespace, uid: row.uid})
REMOVE m:Locked
WITH m, row
WHERE coalesce(m.version, 1) = row.version
REMOVE m:PendingFacts

// name: told_before
// purpose: facts that locked messages have already stated
// params: namespace, rows (uid, fact_id)
// returns: fact_id
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (m:Item {namespace: $namespace, uid: row.uid})<-[c:CHANGED {fact_id: row.fact_id}]-(:SweepRun)
WHERE c.state <> 'undone'
RETURN DISTINCT row.fact_id AS fact_id

// name: sweep_held_facts
// purpose: statements that a fact holds already
// params: namespace, rows (subject, predicate, object), forever
// returns: subject, predicate, object (as asked)
// access: read
// scope: namespace
CYPHER 25
UNWIND $rows AS row
WITH row
WHERE EXISTS {
  MATCH (f:Fact {namespace: $namespace, predicate: row.predicate, subject: row.subject})
  WHERE f.valid_to = $forever AND toLower(f.object) = toLower(row.object)
    AND NOT EXISTS { (:Fact {namespace: $namespace})-[:SUPERSEDES]->(f) }
}
RETURN row.subject AS subject, row.predicate AS predicate, row.object AS object

// name: sweep_count
// purpose: how many memories are in a sweep's scope
// params: namespace, kinds, types, authors, conversation_id, session_id, person_id, domain, tags, agent, path_prefix, occurred_from, occurred_to, unknown_time, as_of, known_at, expired, resembling, domains, min_importance
// returns: memories
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item)
{{through_the_key}} AND {{of_sweep}}
RETURN count(m) AS memories

// name: aged_items
// purpose: a page of the items that a rule of retention takes, by uid
// params: namespace, kinds, types, authors, conversation_id, session_id, person_id, domain, tags, agent, path_prefix, occurred_from, occurred_to, unknown_time, as_of, known_at, expired, resembling, older_than, after_uid, limit
// returns: uid, version
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item)
WHERE m.namespace = $namespace AND m.uid > $after_uid AND {{chosen}}
  AND NOT m:FileChunk AND m.expires_at IS NULL AND NOT coalesce(m.pinned, false)
  AND coalesce(m.occurred_at, m.created_at) < $older_than
RETURN m.uid AS uid, coalesce(m.version, 1) AS version ORDER BY uid LIMIT $limit

// name: expired_items
// purpose: items that expired before a moment
// params: namespace, moment, limit
// returns: uid, version
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item)
WHERE m.namespace = $namespace AND m.expires_at < $moment AND m.uid IS NOT NULL AND NOT coalesce(m.pinned, false)
RETURN m.uid AS uid, coalesce(m.version, 1) AS version ORDER BY uid LIMIT $limit

// name: count_expired_items
// purpose: how many items expired before a moment
// params: namespace, moment
// returns: items
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item)
WHERE m.namespace = $namespace AND m.expires_at < $moment AND NOT coalesce(m.pinned, false)
RETURN count(m) AS items

// name: expire_items
// purpose: locked items get an end
// params: namespace, rows (uid, expires_at)
// returns: uid, kind
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (m:Item {namespace: $namespace, uid: row.uid})
SET m.expires_at = row.expires_at, m.version = coalesce(m.version, 1) + 1, m.updated_at = datetime()
RETURN m.uid AS uid, m.kind AS kind

// name: unexpire_items
// purpose: locked items lose the end that they were given, unless they have another one by now
// params: namespace, rows (uid, expires_at)
// returns: uid, kind
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (m:Item {namespace: $namespace, uid: row.uid})
// The same moment in another zone is not equal.
WHERE m.expires_at.epochMillis = row.expires_at.epochMillis
REMOVE m.expires_at
SET m.version = coalesce(m.version, 1) + 1, m.updated_at = datetime()
RETURN m.uid AS uid, m.kind AS kind

// name: sweep_domains
// purpose: the domains that memories name
// params: namespace
// returns: domain
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item)
{{through_the_key}} AND m.namespace = $namespace AND m.domain IS NOT NULL
RETURN DISTINCT m.domain AS domain ORDER BY domain

// name: sweep_vectors
// purpose: the vector of each memory's first passage
// params: namespace, uids
// returns: uid, vector
// access: read
// scope: namespace
// template: space
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})-[:HAS_EMBEDDING]->(e:Embedding_{{space}})
WHERE e.namespace = $namespace AND e.role = 'passage' AND e.ordinal = 0
RETURN uid, e.vector AS vector

// name: sweep_neighbours
// purpose: the nearest memories of each memory, by its first passage and any passage of the other
// params: namespace, uids, kinds, k
// returns: found (a list of [uid, other, cosine -1..1])
// access: read
// scope: namespace
// template: space
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})-[:HAS_EMBEDDING]->(own:Embedding_{{space}})
WHERE own.namespace = $namespace AND own.role = 'passage' AND own.ordinal = 0
WITH uid, own.vector AS vector
CALL (vector) {
  MATCH (e:Embedding_{{space}})
    SEARCH e IN (VECTOR INDEX embedding_{{space}} FOR vector WHERE e.namespace = $namespace AND e.kind IN $kinds LIMIT $k) SCORE AS nearness
  RETURN e.uid AS other, max(2 * nearness - 1) AS similarity
}
WITH uid, other, similarity
WHERE other <> uid
WITH uid, other, similarity ORDER BY uid, similarity DESC, other
RETURN collect([uid, other, similarity]) AS found

// name: sweep_namesakes
// purpose: memories that contain a memory's names, or words of its statements
// params: namespace, rows (uid, words: a Lucene query)
// returns: found (a list of [uid, other])
// access: read
// scope: namespace
CYPHER 25
UNWIND $rows AS row
CALL (row) {
  MATCH (m:Item) SEARCH m IN (FULLTEXT INDEX item_text FOR row.words LIMIT 12) SCORE AS relevance
  WHERE m.namespace = $namespace AND m.uid <> row.uid
  RETURN m.uid AS other
}
WITH DISTINCT row.uid AS uid, other ORDER BY uid, other
RETURN collect([uid, other]) AS found

// name: sweep_namesakes_cjk
// purpose: memories that contain Chinese, Japanese or Korean words of a memory's statements
// params: namespace, rows (uid, words: a Lucene query)
// returns: found (a list of [uid, other])
// access: read
// scope: namespace
CYPHER 25
UNWIND $rows AS row
CALL (row) {
  MATCH (m:Item) SEARCH m IN (FULLTEXT INDEX item_text_cjk FOR row.words LIMIT 12) SCORE AS relevance
  WHERE m.namespace = $namespace AND m.uid <> row.uid
  RETURN m.uid AS other
}
WITH DISTINCT row.uid AS uid, other ORDER BY uid, other
RETURN collect([uid, other]) AS found

// name: sweep_linked
// purpose: memories that support one fact together with a memory, or that its text names by uid
// params: namespace, rows (uid, words)
// returns: found (a list of [uid, other])
// access: read
// scope: namespace
CYPHER 25
UNWIND $rows AS row
CALL (row) {
  MATCH (m:Item {namespace: $namespace, uid: row.uid})<-[:EVIDENCED_BY]-(f:Fact)-[:EVIDENCED_BY]->(o:Memory)
  WHERE f.namespace = $namespace AND o.namespace = $namespace
  RETURN o.uid AS other
  UNION
  UNWIND row.words AS word
  MATCH (o:Item:Memory {namespace: $namespace, uid: word})
  RETURN o.uid AS other
}
WITH row.uid AS uid, other
WHERE other <> uid
WITH DISTINCT uid, other ORDER BY uid, other
RETURN collect([uid, other]) AS found

// name: sweep_notes
// purpose: fields of memories that may be related to others
// params: namespace, uids, chars
// returns: found (a list of [text: its first characters, uid, occurred_at, version, whole: that is all of the text])
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item:Memory {namespace: $namespace, uid: uid})
RETURN collect([left(m.text, $chars), m.uid, m.occurred_at, coalesce(m.version, 1), size(m.text) <= $chars]) AS found

// name: read_memories
// purpose: locked memories whole
// params: namespace, uids
// returns: item
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item:Memory {namespace: $namespace, uid: uid})
RETURN m {.*, tokens: null, search_text: null} AS item

// name: sweep_known_pairs
// purpose: pairs of memories between which there are edges already, in either direction, accepted or not
// params: namespace, rows (source, target)
// returns: source, target (as asked), types, human (one of them is a human's, or was reviewed by one)
// access: read
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (source:Item {namespace: $namespace, uid: row.source})-[r:{{kinds}}]-(target:Item {namespace: $namespace, uid: row.target})
RETURN row.source AS source, row.target AS target, collect(DISTINCT {{edge_type}}) AS types,
  max(CASE WHEN coalesce(r.method, 'human') = 'human' OR r.reviewed_by IS NOT NULL THEN 1 ELSE 0 END) = 1 AS human

// name: draw_sweep_edges
// purpose: create edges that a sweep inferred between locked memories
// params: namespace, rows (source, target, label: the type or PROPOSED, properties)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (source:Item {namespace: $namespace, uid: row.source})
MATCH (target:Item {namespace: $namespace, uid: row.target})
CREATE (source)-[r:$(row.label)]->(target)
SET r = row.properties, r.created_at = datetime()

// name: remove_sweep_edges
// purpose: take away the edges that a sweep drew, as far as no human has decided about them
// params: namespace, sweep_id, rows (uid: the source, target, edge_id)
// returns: edge_id, source, target, type, gone (it is now), kept (a human's now; neither where it had gone before)
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
OPTIONAL MATCH (:Item {namespace: $namespace, uid: row.uid})-[r:{{kinds}} {edge_id: row.edge_id}]->(:Item {namespace: $namespace, uid: row.target})
WITH row, r, {{edge_type}} AS type, r IS NOT NULL AS there, r IS NOT NULL
  AND (coalesce(r.run_id, '') <> $sweep_id OR r.method = 'human' OR r.reviewed_by IS NOT NULL) AS kept
FOREACH (gone IN CASE WHEN kept OR r IS NULL THEN [] ELSE [r] END | DELETE gone)
RETURN row.edge_id AS edge_id, row.uid AS source, row.target AS target, type, there AND NOT kept AS gone, kept

// name: begin_sweep
// purpose: record that a sweep begins, under the first free number of the day
// params: namespace, day (sweep-YYYYMMDD-), config, plan_hash, actor, progress
// returns: sweep_id
// access: write
// scope: namespace
CYPHER 25
OPTIONAL MATCH (other:SweepRun {namespace: $namespace})
WHERE other.sweep_id STARTS WITH $day
WITH coalesce(max(toInteger(substring(other.sweep_id, size($day)))), 0) + 1 AS number
WITH $day + CASE WHEN number < 100 THEN right('00' + number, 3) ELSE toString(number) END AS sweep_id
CREATE (run:SweepRun {namespace: $namespace, sweep_id: sweep_id, name: sweep_id, status: 'applying', config: $config,
  plan_hash: $plan_hash, actor: $actor, progress: $progress, started_at: datetime()})
RETURN run.sweep_id AS sweep_id

// name: next_sweep_number
// purpose: the number that the next sweep of the day would get
// params: namespace, day (sweep-YYYYMMDD-)
// returns: number
// access: read
// scope: namespace
CYPHER 25
OPTIONAL MATCH (other:SweepRun {namespace: $namespace})
WHERE other.sweep_id STARTS WITH $day
RETURN coalesce(max(toInteger(substring(other.sweep_id, size($day)))), 0) + 1 AS number

// fragment: run
run {.sweep_id, .status, .config, .plan_hash, .actor, .progress, .started_at, .finished_at} AS run

// name: get_sweep
// purpose: one run of the sweep
// params: namespace, sweep_id
// returns: run
// access: read
// scope: namespace
CYPHER 25
MATCH (run:SweepRun {namespace: $namespace, sweep_id: $sweep_id})
RETURN {{run}}

// name: list_sweeps
// purpose: a page of the runs of the sweep, the newest first
// params: namespace, before (sweep_id, or text behind all), limit
// returns: run
// access: read
// scope: namespace
CYPHER 25
MATCH (run:SweepRun {namespace: $namespace})
WHERE run.sweep_id < $before
RETURN {{run}} ORDER BY run.sweep_id DESC LIMIT $limit

// name: save_sweep
// purpose: record a run's progress, in the transaction of its changes and only while the lease is ours
// params: namespace, sweep_id, lease, owner, status, progress
// returns: one row if the lease was still ours and the run goes on
// access: write
// scope: namespace
CYPHER 25
MATCH (lock:Lock {name: $lease})
SET lock.asked_at = datetime.realtime()
WITH lock
WHERE lock.owner = $owner
MATCH (run:SweepRun {namespace: $namespace, sweep_id: $sweep_id})
// Nothing is added to a run that is taken back.
WHERE $status IN ['undoing', 'undone'] OR NOT run.status IN ['undoing', 'undone']
SET run.status = $status, run.progress = $progress,
  run.finished_at = CASE WHEN $status IN ['applied', 'undone'] THEN datetime() END
RETURN run.sweep_id AS sweep_id

// name: put_sweep_changes
// purpose: record a run's changes to locked memories, or its proposals for them
// params: namespace, sweep_id, rows (uid, properties)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
MATCH (run:SweepRun {namespace: $namespace, sweep_id: $sweep_id})
UNWIND $rows AS row
MATCH (m:Item {namespace: $namespace, uid: row.uid})
CREATE (run)-[c:CHANGED]->(m)
SET c = row.properties, c.namespace = $namespace, c.sweep_id = $sweep_id

// name: sweep_changes
// purpose: a page of a run's changes and proposals, in order
// params: namespace, sweep_id, after_seq, states (null means any), limit
// returns: uid, properties
// access: read
// scope: namespace
CYPHER 25
MATCH (:SweepRun)-[c:CHANGED]->(m:Item {namespace: $namespace})
WHERE c.namespace = $namespace AND c.sweep_id = $sweep_id AND c.seq > $after_seq AND ($states IS NULL OR c.state IN $states)
RETURN m.uid AS uid, properties(c) AS properties ORDER BY c.seq LIMIT $limit

// name: settle_sweep_changes
// purpose: changes of a run get a new state
// params: namespace, sweep_id, rows (seq, state)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (:SweepRun)-[c:CHANGED]->(:Item {namespace: $namespace})
WHERE c.namespace = $namespace AND c.sweep_id = $sweep_id AND c.seq = row.seq
SET c.state = row.state

// name: revisions_of_sweep
// purpose: locked memories as they were before a run changed them
// params: namespace, sweep_id, uids
// returns: uid, revision
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item:Memory {namespace: $namespace, uid: uid})-[:HAS_REVISION]->(r:Revision)
WHERE r.namespace = $namespace AND r.reason = $sweep_id
WITH uid, r ORDER BY r.version
RETURN uid, head(collect(properties(r))) AS revision

// name: unedited_facts
// purpose: those of locked facts that nobody has changed since they were stored
// params: namespace, uids
// returns: uid
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (f:Item:Fact {namespace: $namespace, uid: uid})
WHERE NOT EXISTS { (f)-[:HAS_REVISION]->(r:Revision) WHERE r.namespace = $namespace }
RETURN uid

// name: changes_since
// purpose: reasons of changes to locked memories since a version, and the memories at that version
// params: namespace, rows (uid, version)
// returns: uid, reasons (one for each change), left (properties)
// access: read
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (m:Item:Memory {namespace: $namespace, uid: row.uid})-[:HAS_REVISION]->(r:Revision)
WHERE r.namespace = $namespace AND r.version >= row.version
WITH row, r ORDER BY r.version
RETURN row.uid AS uid, collect(r.reason) AS reasons, head(collect(properties(r))) AS left
