// What people decided
// Reviewed edges, the latest first, with the reason given.
// :param namespace => 'sample'
MATCH (a:Item)-[r:CAUSES|BLOCKS|ENABLES|RELATES_TO|PROPOSED]->(b:Item)
WHERE a.namespace = $namespace AND r.reviewed_by IS NOT NULL
RETURN r.reviewed_at AS reviewed_at, r.reviewed_by AS reviewed_by, coalesce(r.state, 'accepted') AS decision,
  a.name AS source, coalesce(r.type, type(r)) AS type, b.name AS target, r.review_reason AS reason
ORDER BY reviewed_at DESC LIMIT 200
