// Facts by what they say of whom.

// name: open_facts
// purpose: of facts that come in the stored ones of the same subject, predicate and person that hold but for it
// params: namespace, rows (uid, subject, predicate, person_id), forever
// returns: uid, source_hash (null for a new one), open (list of [uid, object, valid_from, what a human has decided: accepted, rejected or null])
// access: read
// scope: namespace
CYPHER 25
UNWIND $rows AS row
OPTIONAL MATCH (own:Item {namespace: $namespace, uid: row.uid})
RETURN row.uid AS uid, own.source_hash AS source_hash, COLLECT {
  MATCH (f:Fact {namespace: $namespace, predicate: row.predicate, subject: row.subject})
  WHERE f.uid <> row.uid AND f.object IS NOT NULL AND coalesce(f.person_id, '') = coalesce(row.person_id, '')
    AND NOT EXISTS { (other:Fact {namespace: $namespace})-[:SUPERSEDES]->(f) WHERE other.uid <> row.uid }
  OPTIONAL MATCH (own)-[closing:SUPERSEDES]->(f)
  WITH f, coalesce(closing.former_valid_to, f.valid_to) AS ends
  WHERE ends = $forever
  OPTIONAL MATCH (own)-[proposal:PROPOSED {type: 'SUPERSEDES'}]->(f) WHERE proposal.state <> 'proposed'
  RETURN [f.uid, f.object, f.valid_from, proposal.state] ORDER BY f.valid_from, f.uid
} AS open

// name: predicate_habits
// purpose: how many subjects have a value of a predicate, how many several open ones, how many one that replaced another, and how many facts do not replace another as a human says
// params: namespace, predicates, forever, limit (facts of each)
// returns: predicate, subjects, several, replaced, kept
// access: read
// scope: namespace
CYPHER 25
UNWIND $predicates AS predicate
CALL (predicate) {
  MATCH (f:Fact {namespace: $namespace, predicate: predicate})
  WHERE f.subject IS NOT NULL
  WITH f LIMIT $limit
  WITH f, EXISTS { (:Fact {namespace: $namespace})-[:SUPERSEDES]->(f) } AS replaced
  WITH f.subject AS subject, max(CASE WHEN replaced THEN 1 ELSE 0 END) AS replaced,
    count(DISTINCT CASE WHEN f.valid_to = $forever AND NOT replaced THEN toLower(f.object) END) AS values,
    sum(COUNT { (f)-[:PROPOSED {type: 'SUPERSEDES', state: 'rejected'}]->(:Fact {namespace: $namespace}) }) AS kept
  RETURN count(*) AS subjects, sum(CASE WHEN values > 1 THEN 1 ELSE 0 END) AS several,
    sum(CASE WHEN values = 1 THEN replaced ELSE 0 END) AS replaced, sum(kept) AS kept
}
RETURN predicate, subjects, several, replaced, kept

// name: propose_successions
// purpose: say of pairs of facts that the first may supersede the second, unless it does or somebody has decided
// params: namespace, rows (newer, older, edge_id, reason, confidence)
// returns: edge_id, source, target (of new ones)
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (newer:Item:Fact {namespace: $namespace, uid: row.newer})
MATCH (older:Item:Fact {namespace: $namespace, uid: row.older})
WHERE NOT EXISTS { (newer)-[:SUPERSEDES]->(older) }
WITH row, newer, older, EXISTS { (newer)-[:PROPOSED {type: 'SUPERSEDES'}]->(older) } AS known
MERGE (newer)-[r:PROPOSED {type: 'SUPERSEDES'}]->(older)
ON CREATE SET r.state = 'proposed', r.edge_id = row.edge_id, r.method = 'rule', r.reason = row.reason,
  r.confidence = row.confidence, r.created_at = datetime()
WITH newer, older, r, known
WHERE NOT known
RETURN r.edge_id AS edge_id, newer.uid AS source, older.uid AS target
