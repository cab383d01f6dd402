// Circles of causes
// Items that lead back to themselves, over up to five causes.
// :param namespace => 'sample'
MATCH path = (m:Item)-[:CAUSES*2..5]->(m)
WHERE m.namespace = $namespace
RETURN path LIMIT 25
