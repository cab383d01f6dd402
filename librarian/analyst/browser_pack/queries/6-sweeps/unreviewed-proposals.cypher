// Unreviewed proposals
// Possible causes with their quotes. They count for nothing until a person accepts them.
// :param namespace => 'sample'
MATCH (a:Item)-[r:PROPOSED {state: 'proposed'}]->(b:Item)
WHERE a.namespace = $namespace
RETURN r.edge_id AS edge_id, a.name AS source, r.type AS would_be, b.name AS target, r.source_quote AS source_says,
  r.target_quote AS target_says, r.confidence AS confidence, r.method AS drawn_by, r.reason AS reason
ORDER BY confidence DESC LIMIT 200
