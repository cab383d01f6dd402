// The causal picture
// Accepted causes, blocks and enablers of the whole namespace, up to 150.
// :param namespace => 'sample'
MATCH path = (m:Item)-[:CAUSES|BLOCKS|ENABLES]->(:Item)
WHERE m.namespace = $namespace
RETURN path LIMIT 150
