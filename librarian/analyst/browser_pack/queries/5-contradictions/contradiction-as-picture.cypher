// Contradictions as picture
// With the evidence of both sides: who said what, and when.
// :param namespace => 'sample'
MATCH (a:Fact)-[:ABOUT]->(p:Person)<-[:ABOUT]-(b:Fact)
WHERE a.namespace = $namespace AND a.uid < b.uid AND a.relationship_type = b.relationship_type
  AND coalesce(a.fact_type, '') = coalesce(b.fact_type, '')
  AND toLower(trim(a.fact_object)) <> toLower(trim(b.fact_object))
  AND coalesce(a.valid_from, datetime('0001-01-01')) < b.valid_to
  AND coalesce(b.valid_from, datetime('0001-01-01')) < a.valid_to
  AND NOT EXISTS { (a)-[:SUPERSEDES]-(b) }
UNWIND [a, b] AS side
MATCH about = (side)-[:ABOUT]->(:Person)
OPTIONAL MATCH evidence = (side)-[:EVIDENCED_BY]->(:Item)
RETURN about, evidence LIMIT 50
