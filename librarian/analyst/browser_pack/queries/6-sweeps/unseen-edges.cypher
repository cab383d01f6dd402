// Edges nobody has seen
// In force, drawn by a rule or a model, and reviewed by no human.
// :param namespace => 'sample'
MATCH (a:Item)-[r:CAUSES|BLOCKS|ENABLES|RELATES_TO]->(b:Item)
WHERE a.namespace = $namespace AND r.method <> 'human' AND r.reviewed_by IS NULL
RETURN r.edge_id AS edge_id, a.name AS source, type(r) AS type, b.name AS target, r.confidence AS confidence,
  r.source_quote AS source_says, r.target_quote AS target_says
ORDER BY confidence LIMIT 200
