// Facts by what they say of whom.

// name: open_facts
// purpose: of facts that come in the stored ones of the same subject, predicate and person that hold and that nothing supersedes
// params: namespace, rows (uid, subject, predicate, person_id), forever
// returns: uid, source_hash (null for a new one), open (list of [uid, object, valid_from])
// access: read
// scope: namespace
CYPHER 25
UNWIND $rows AS row
OPTIONAL MATCH (own:Item {namespace: $namespace, uid: row.uid})
RETURN row.uid AS uid, own.source_hash AS source_hash, COLLECT {
  MATCH (f:Fact {namespace: $namespace, predicate: row.predicate, subject: row.subject})
  WHERE f.uid <> row.uid AND f.valid_to = $forever AND f.object IS NOT NULL
    AND coalesce(f.person_id, '') = coalesce(row.person_id, '')
    AND NOT EXISTS { (:Fact {namespace: $namespace})-[:SUPERSEDES]->(f) }
  RETURN [f.uid, f.object, f.valid_from] ORDER BY f.valid_from, f.uid
} AS open

// name: predicate_habits
// purpose: how many subjects have a value of a predicate, and how many have several open ones
// params: namespace, predicates, forever, limit (facts of each)
// returns: predicate, subjects, several
// access: read
// scope: namespace
CYPHER 25
UNWIND $predicates AS predicate
CALL (predicate) {
  MATCH (f:Fact {namespace: $namespace, predicate: predicate})
  WHERE f.subject IS NOT NULL
  WITH f LIMIT $limit
  WITH f.subject AS subject, count(DISTINCT CASE
    WHEN f.valid_to = $forever AND NOT EXISTS { (:Fact {namespace: $namespace})-[:SUPERSEDES]->(f) } THEN toLower(f.object)
  END) AS values
  RETURN count(*) AS subjects, sum(CASE WHEN values > 1 THEN 1 ELSE 0 END) AS several
}
RETURN predicate, subjects, several
