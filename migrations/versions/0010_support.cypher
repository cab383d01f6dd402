// librarian: kind=data; idempotent=yes
//
// Facts by what they say of whom, for predicates with a single value. And what was superseded, ended or changed so far: the
// next write to its namespace judges what rests on it.
CYPHER 25 CREATE RANGE INDEX fact_attribute IF NOT EXISTS FOR (n:Fact) ON (n.namespace, n.predicate, n.subject);
CYPHER 25
MATCH (m:Item)<-[:EVIDENCED_BY|SUPERSEDES]-(:Item)
WHERE (m:Fact AND (m.valid_to < datetime('9999-12-31T23:59:59Z') OR EXISTS { (:Fact)-[:SUPERSEDES]->(m) }))
  OR EXISTS { (m)-[:HAS_REVISION]->(:Revision) }
CALL (m) {
  SET m:Unsettled
} IN TRANSACTIONS OF 1000 ROWS;
