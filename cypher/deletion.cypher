// name: select_items
// purpose: all items that pass the filters, superseded facts included, with the version each has
// params: namespace, kinds, types, authors, conversation_id, session_id, person_id, domain, tags, agent, path_prefix, occurred_from, occurred_to, unknown_time, as_of, known_at, expired, resembling
// returns: uid, version
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item)
{{through_the_key}} AND {{chosen}}
RETURN m.uid AS uid, coalesce(m.version, 1) AS version ORDER BY uid

// name: select_items_by_uid
// purpose: those of the named items that pass the filters, with the version each has
// params: namespace, uids, kinds, types, authors, conversation_id, session_id, person_id, domain, tags, agent, path_prefix, occurred_from, occurred_to, unknown_time, as_of, known_at, expired, resembling
// returns: uid, version
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})
WHERE {{chosen}}
RETURN DISTINCT m.uid AS uid, coalesce(m.version, 1) AS version ORDER BY uid

// name: versions_of_items
// purpose: those of the named items that exist, with the version each has
// params: namespace, uids
// returns: uid, version
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})
RETURN DISTINCT m.uid AS uid, coalesce(m.version, 1) AS version ORDER BY uid

// name: count_cascade
// purpose: counts of everything a deletion of these items would remove
// params: namespace, uids
// returns: by_kind (list of {kind, items}), edges, evidence_links, revisions, embeddings
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})
WITH collect(m) AS doomed
CALL (doomed) {
  UNWIND doomed AS m
  WITH m.kind AS kind, count(*) AS items ORDER BY kind
  RETURN collect({kind: kind, items: items}) AS by_kind
}
CALL (doomed) {
  UNWIND doomed AS m
  MATCH (m)-[r:CAUSES|BLOCKS|ENABLES|RELATES_TO|PROPOSED]-(:Item {namespace: $namespace})
  RETURN count(DISTINCT r) AS edges
}
CALL (doomed) {
  UNWIND doomed AS m
  MATCH (m)-[r:EVIDENCED_BY]-(:Item {namespace: $namespace})
  RETURN count(DISTINCT r) AS evidence_links
}
CALL (doomed) {
  UNWIND doomed AS m
  MATCH (m)-[:HAS_REVISION]->(r:Revision)
  WHERE r.namespace = $namespace
  RETURN count(DISTINCT r) AS revisions
}
CALL (doomed) {
  UNWIND doomed AS m
  MATCH (m)-[:HAS_EMBEDDING]->(e:Embedding)
  WHERE e.namespace = $namespace
  RETURN count(DISTINCT e) AS embeddings
}
RETURN by_kind, edges, evidence_links, revisions, embeddings

// name: delete_items
// purpose: delete locked items with everything attached to them; items that cited or superseded them wait for them again, facts they superseded hold again, conversations and people left empty are deleted too
// params: namespace, doomed (uids)
// returns: edges, evidence_links, revisions, embeddings
// access: write
// scope: namespace
CYPHER 25
UNWIND $doomed AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})
WITH collect(m) AS doomed
CALL (doomed) {
  UNWIND doomed AS f
  WITH f
  WHERE f:Fact
  {{reopen_superseded}}
}
CALL (doomed) {
  UNWIND doomed AS m
  MATCH (f:Item)-[link:EVIDENCED_BY|SUPERSEDES]->(m)
  WHERE f.namespace = $namespace AND link.ref IS NULL
  SET f:UnresolvedReferences
  WITH m, f
  WHERE (f)-[:EVIDENCED_BY]->(m)
  SET f:Unsettled, f.lost_at = datetime(),
    f.lost_refs = coalesce(f.lost_refs, []) + [ref IN f.evidence_refs WHERE ref = m.uid OR ref = m.message_id]
}
CALL (doomed) {
  UNWIND doomed AS m
  MATCH (m)-[:EVIDENCED_BY|SUPERSEDES]->(named:Item {namespace: $namespace})
  SET named:Unsettled
}
CALL (doomed) {
  UNWIND doomed AS m
  MATCH (m)-[r:CAUSES|BLOCKS|ENABLES|RELATES_TO|PROPOSED]-(:Item {namespace: $namespace})
  WITH DISTINCT r
  DELETE r
  RETURN count(*) AS edges
}
CALL (doomed) {
  UNWIND doomed AS m
  MATCH (m)-[r:EVIDENCED_BY]-(:Item {namespace: $namespace})
  WITH DISTINCT r
  DELETE r
  RETURN count(*) AS evidence_links
}
CALL (doomed) {
  UNWIND doomed AS m
  MATCH (m)-[:CITES]->(cited:Citation)
  WHERE cited.namespace = $namespace
  DETACH DELETE cited
}
CALL (doomed) {
  UNWIND doomed AS m
  MATCH (m)-[:HAS_REVISION]->(r:Revision)
  WHERE r.namespace = $namespace
  WITH DISTINCT r
  DETACH DELETE r
  RETURN count(*) AS revisions
}
CALL (doomed) {
  UNWIND doomed AS m
  MATCH (m)-[:HAS_EMBEDDING]->(e:Embedding)
  WHERE e.namespace = $namespace
  WITH DISTINCT e
  DETACH DELETE e
  RETURN count(*) AS embeddings
}
CALL (doomed) {
  UNWIND doomed AS m
  MATCH (m)-[:IN_CONVERSATION]->(c:Conversation {namespace: $namespace})
  WITH DISTINCT c
  // Also the lock under which it is found empty below.
  SET c:Unlinked
  RETURN collect(c) AS conversations
}
CALL (doomed) {
  UNWIND doomed AS m
  MATCH (m)-[:ABOUT]->(p:Person {namespace: $namespace})
  WITH DISTINCT p
  REMOVE p:Locked
  RETURN collect(p) AS people
}
FOREACH (m IN doomed | DETACH DELETE m)
WITH edges, evidence_links, revisions, embeddings, conversations, people
CALL (conversations) {
  UNWIND conversations AS c
  WITH c
  WHERE NOT EXISTS { (c)<-[:IN_CONVERSATION]-() }
  DETACH DELETE c
}
CALL (people) {
  UNWIND people AS p
  WITH p
  WHERE NOT EXISTS { (p)<-[:ABOUT]-() }
  DETACH DELETE p
}
RETURN edges, evidence_links, revisions, embeddings
