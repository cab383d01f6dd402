// Contradicting facts
// About one person, of one sort, true at one time, with different objects, and none supersedes the other.
// :param namespace => 'sample'
MATCH (a:Fact)-[:ABOUT]->(p:Person)<-[:ABOUT]-(b:Fact)
WHERE a.namespace = $namespace AND a.uid < b.uid AND a.relationship_type = b.relationship_type
  AND coalesce(a.fact_type, '') = coalesce(b.fact_type, '')
  AND toLower(trim(a.fact_object)) <> toLower(trim(b.fact_object))
  AND coalesce(a.valid_from, datetime('0001-01-01')) < b.valid_to
  AND coalesce(b.valid_from, datetime('0001-01-01')) < a.valid_to
  AND NOT EXISTS { (a)-[:SUPERSEDES]-(b) }
RETURN p.name AS person, a.relationship_type AS relationship, a.text AS one, b.text AS other, a.uid AS one_uid, b.uid AS other_uid
ORDER BY person, one_uid LIMIT 50
