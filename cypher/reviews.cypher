// Reviews: what sweeps propose, and what a human has decided about it. A decision stays: a decided proposal is none of
// these statements' business any more.

// fragment: review_state
CASE WHEN type(r) = 'PROPOSED' THEN CASE WHEN r.state IN ['accepted', 'rejected'] THEN r.state ELSE 'open' END
    WHEN r.reviewed_by IS NOT NULL THEN 'accepted'
    WHEN coalesce(r.method, 'human') = 'human' THEN 'drawn' ELSE 'unreviewed' END

// name: review_edges
// purpose: a page of open or past reviews of edges and supersessions, by edge_id; an open supersession of a fact that no longer holds does not count
// params: namespace, after (edge_id), sorts (edge, supersede), forever, states (open, unreviewed, accepted, rejected), because (how the reason begins), limit
// returns: source, target, type, state, properties
// access: read
// scope: namespace
CYPHER 25
MATCH (source:Item {namespace: $namespace})-[r:{{kinds}}]->(target:Item {namespace: $namespace})
USING INDEX source:Item(namespace, uid)
WHERE source.uid IS NOT NULL AND r.edge_id > $after AND {{review_state}} IN $states
  AND coalesce(r.reason, '') STARTS WITH $because AND CASE WHEN {{is_edge}} THEN 'edge' ELSE 'supersede' END IN $sorts
  AND ({{is_edge}} OR r.state <> 'proposed' OR target.valid_to = $forever
    AND NOT EXISTS { (:Fact {namespace: $namespace})-[:SUPERSEDES]->(target) })
WITH source, target, r ORDER BY r.edge_id LIMIT $limit
RETURN {{edge}} ORDER BY r.edge_id

// name: review_changes
// purpose: a page of the flags, merges and facts that sweeps propose, or that were decided, in their order
// params: namespace, after_sweep (sweep_id), after_seq, actions (flag, merge, fact), states (proposed, applied, accepted, rejected), because (how the reason begins), limit
// returns: uid, properties
// access: read
// scope: namespace
CYPHER 25
MATCH (:SweepRun)-[c:CHANGED]->(m:Item {namespace: $namespace})
WHERE c.namespace = $namespace AND c.sweep_id >= $after_sweep AND c.seq IS NOT NULL
  AND CASE WHEN c.sweep_id = $after_sweep THEN c.seq > $after_seq ELSE true END
  AND c.action IN $actions AND c.state IN $states AND coalesce(c.reason, '') STARTS WITH $because
  AND (c.target IS NULL OR EXISTS { (:Item {namespace: $namespace, uid: c.target}) })
RETURN m.uid AS uid, properties(c) AS properties ORDER BY c.sweep_id, c.seq LIMIT $limit

// name: reasons_of_edges
// purpose: reasons of drawn or proposed edges, and the human decisions on them
// params: namespace
// returns: reason, state (open, unreviewed, accepted, rejected), reviews (how many)
// access: read
// scope: namespace
CYPHER 25
MATCH (source:Item {namespace: $namespace})-[r:{{kinds}}]->(target:Item {namespace: $namespace})
USING INDEX source:Item(namespace, uid)
WHERE source.uid IS NOT NULL AND r.edge_id IS NOT NULL AND r.reason IS NOT NULL
WITH r.reason AS reason, {{review_state}} AS state
WHERE state <> 'drawn'
RETURN reason, state, count(*) AS reviews

// name: reasons_of_changes
// purpose: reasons of sweeps to flag memories, propose merges or read facts from messages, and the human decisions on them
// params: namespace
// returns: action (flag, merge, fact), reason, state (proposed, applied, accepted, rejected), reviews (how many)
// access: read
// scope: namespace
CYPHER 25
MATCH (:SweepRun)-[c:CHANGED]->(m:Item {namespace: $namespace})
WHERE c.namespace = $namespace AND c.seq IS NOT NULL AND c.reason IS NOT NULL
  AND c.action IN ['flag', 'merge', 'fact'] AND c.state IN ['proposed', 'applied', 'accepted', 'rejected']
  AND (c.target IS NULL OR EXISTS { (:Item {namespace: $namespace, uid: c.target}) })
RETURN c.action AS action, c.reason AS reason, c.state AS state, count(*) AS reviews

// name: review_change
// purpose: one flag, merge or fact that a sweep proposes, or that was decided
// params: namespace, sweep_id, seq
// returns: uid, properties
// access: read
// scope: namespace
CYPHER 25
MATCH (:SweepRun)-[c:CHANGED]->(m:Item {namespace: $namespace})
WHERE c.namespace = $namespace AND c.sweep_id = $sweep_id AND c.seq = $seq
  AND c.action IN ['flag', 'merge', 'fact'] AND c.state IN ['proposed', 'applied', 'accepted', 'rejected']
RETURN m.uid AS uid, properties(c) AS properties

// name: reject_edge
// purpose: an edge between locked items becomes a rejected proposal, which no picture of the graph shows
// params: namespace, edge_id, reviewed_by, review_reason
// returns: source, target, type, state, properties
// access: write
// scope: namespace
CYPHER 25
MATCH (source:Item {namespace: $namespace})-[old:{{kinds}} {edge_id: $edge_id}]->(target:Item {namespace: $namespace})
WITH source, target, old, properties(old) AS before, CASE type(old) WHEN 'PROPOSED' THEN old.type ELSE type(old) END AS type
DELETE old
CREATE (source)-[r:PROPOSED]->(target)
SET r = before, r.type = type, r.state = 'rejected',
  r.reviewed_by = $reviewed_by, r.reviewed_at = datetime(), r.review_reason = $review_reason
RETURN {{edge}}

// name: settle_supersession
// purpose: record the decision whether a locked fact supersedes another
// params: namespace, edge_id, state, reviewed_by, review_reason
// returns: source, target, type, state, properties
// access: write
// scope: namespace
CYPHER 25
MATCH (source:Item {namespace: $namespace})-[r:PROPOSED {edge_id: $edge_id}]->(target:Item {namespace: $namespace})
SET r.state = $state, r.reviewed_by = $reviewed_by, r.reviewed_at = datetime(), r.review_reason = $review_reason
RETURN {{edge}}

// name: settle_review
// purpose: record the decision on a flag or merge of a locked memory, or a fact of a locked message
// params: namespace, sweep_id, seq, state, given_type (null: as proposed), reviewed_by, review_reason
// returns: uid, properties
// access: write
// scope: namespace
CYPHER 25
MATCH (:SweepRun)-[c:CHANGED]->(m:Item {namespace: $namespace})
WHERE c.namespace = $namespace AND c.sweep_id = $sweep_id AND c.seq = $seq
SET c.state = $state,
  c.given_type = CASE WHEN $state = 'accepted' AND c.action = 'flag' THEN coalesce($given_type, c.new_type) END,
  c.reviewed_by = $reviewed_by, c.reviewed_at = datetime(), c.review_reason = $review_reason
RETURN m.uid AS uid, properties(c) AS properties

// name: absorb_citations
// purpose: move the file citations of a locked memory to another locked one, unchanged, unless that one has them already
// params: namespace, uid, into (uid)
// returns: ref (of what both cite)
// access: write
// scope: namespace
CYPHER 25
MATCH (m:Item:Memory {namespace: $namespace, uid: $uid})-[cites:CITES]->(n:Citation {namespace: $namespace})
MATCH (into:Item:Memory {namespace: $namespace, uid: $into})
WITH into, cites, n, EXISTS {
  (into)-[:CITES]->(own:Citation {namespace: $namespace})
  WHERE own.ref = n.ref OR (own.path = n.path AND own.start_line = n.start_line AND own.end_line = n.end_line
    AND coalesce(own.sha256, '') = coalesce(n.sha256, ''))
} AS doubled
FOREACH (gone IN CASE WHEN doubled THEN [] ELSE [cites] END |
  DELETE gone
  SET n.uid = into.uid
  MERGE (into)-[:CITES]->(n))
WITH n.ref AS ref, doubled
WHERE doubled
RETURN ref

// name: absorb_memory
// purpose: move everything attached to a locked memory to another locked one: its history, its edges unless they exist there, the items it supports, and the decision on the two; its text becomes a revision
// params: namespace, uid, into (uid), sweep_id, seq, reason, actor
// returns: edges (that went over: list of {edge_id, type, label, source, target}), citers (list of [uid, kind] of what it supported)
// access: write
// scope: namespace
CYPHER 25
MATCH (m:Item:Memory {namespace: $namespace, uid: $uid})
MATCH (into:Item:Memory {namespace: $namespace, uid: $into})
CALL (m) {
  // By this id an ingest knows what was merged; that of an earlier merge of the same uid gives way.
  MATCH (earlier:Revision {namespace: $namespace, revision_id: 'merged ' + m.uid})
  SET earlier.revision_id = randomUUID()
}
CALL (m, into) {
  MATCH (m)-[had:HAS_REVISION]->(r:Revision)
  WHERE r.namespace = $namespace
  DELETE had
  CREATE (into)-[:HAS_REVISION]->(r)
}
CALL (m, into) {
  CREATE (into)-[:HAS_REVISION]->(r:Revision)
  SET r = m {.*, tokens: null, search_text: null, version: coalesce(m.version, 1), revision_id: 'merged ' + m.uid,
    reason: $reason, actor: $actor, revised_at: datetime()}
}
CALL (m, into) {
  MATCH (f:Item)-[old:EVIDENCED_BY]->(m)
  WHERE f.namespace = $namespace AND f <> into
  WITH m, into, f, old, properties(old) AS link
  DELETE old
  MERGE (f)-[r:EVIDENCED_BY]->(into)
  ON CREATE SET r = link, r.version = coalesce(into.version, 1)
  SET f:Unsettled, f.evidence_refs = CASE WHEN into.uid IN f.evidence_refs THEN [ref IN f.evidence_refs WHERE ref <> m.uid]
    ELSE [ref IN f.evidence_refs | CASE ref WHEN m.uid THEN into.uid ELSE ref END] END
  SET f.version = coalesce(f.version, 1) + 1, f.updated_at = datetime()
  RETURN collect([f.uid, f.kind]) AS citers
}
CALL (m, into) {
  MATCH (run:SweepRun)-[c:CHANGED]->(m)
  WHERE c.namespace = $namespace AND c.sweep_id = $sweep_id AND c.seq = $seq
  CREATE (run)-[moved:CHANGED]->(into)
  SET moved = properties(c), moved.merged = m.uid
}
CALL (m, into) {
  MATCH (m)-[r:{{kinds}}]-(other:Item {namespace: $namespace})
  WHERE other <> into AND r.edge_id IS NOT NULL
  WITH into, r, other, startNode(r) = m AS left, {{edge_type}} AS kind, type(r) AS label, properties(r) AS before
  // RELATES_TO runs from the lower to the higher uid; what each end says stays with its end.
  WITH into, r, other, kind, label, before, left,
    CASE kind WHEN 'RELATES_TO' THEN into.uid < other.uid ELSE left END AS leaves
  WITH r, kind, label, before, left = leaves AS same_way,
    CASE WHEN leaves THEN into ELSE other END AS source, CASE WHEN leaves THEN other ELSE into END AS target
  DELETE r
  WITH source, target, kind, label, before, same_way
  WHERE NOT EXISTS {
    (source)-[known:{{kinds}}]->(target) WHERE CASE type(known) WHEN 'PROPOSED' THEN known.type ELSE type(known) END = kind
  }
  CREATE (source)-[moved:$(label)]->(target)
  SET moved = before,
    moved.source_quote = CASE WHEN same_way THEN before.source_quote ELSE before.target_quote END,
    moved.target_quote = CASE WHEN same_way THEN before.target_quote ELSE before.source_quote END
  RETURN collect({edge_id: moved.edge_id, type: kind, label: label, source: source.uid, target: target.uid}) AS edges
}
RETURN edges, citers

// name: merged_memories
// purpose: memories as they were when merged into others
// params: namespace, uids
// returns: item
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (r:Revision {namespace: $namespace, revision_id: 'merged ' + uid})
RETURN r {.uid, .kind, .name, .type, .occurred_at, .text} AS item
