// Edges drawn by hand
// By people, those drawn in the Browser first: `librarian doctor --adopt-edges` completes them.
// :param namespace => 'sample'
MATCH (a:Item)-[r:CAUSES|BLOCKS|ENABLES|RELATES_TO]->(b:Item)
WHERE a.namespace = $namespace AND (r.edge_id IS NULL OR r.method = 'human')
RETURN a, r, b ORDER BY r.edge_id IS NOT NULL, r.created_at DESC LIMIT 100
