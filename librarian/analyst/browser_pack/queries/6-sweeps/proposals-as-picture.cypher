// Proposals as picture
// Proposed and rejected edges, each with what it would be.
// :param namespace => 'sample'
MATCH path = (a:Item)-[:PROPOSED]->(:Item)
WHERE a.namespace = $namespace
RETURN path LIMIT 100
