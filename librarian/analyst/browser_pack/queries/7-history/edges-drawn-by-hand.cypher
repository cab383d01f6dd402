// Edges drawn by hand
// Drawn in the Browser and not adopted yet. `librarian doctor --adopt-edges` completes them.
// :param namespace => 'sample'
MATCH (a:Item)-[r:CAUSES|BLOCKS|ENABLES|RELATES_TO]->(b:Item)
WHERE a.namespace = $namespace AND r.edge_id IS NULL
RETURN a, r, b LIMIT 100
