// Edges by type
// How many causes, blocks and the like the namespace has, and proposals by what they would become.
// :param namespace => 'sample'
MATCH (m:Item)-[r:CAUSES|BLOCKS|ENABLES|RELATES_TO|PROPOSED]->(:Item)
WHERE m.namespace = $namespace
RETURN type(r) AS relationship, r.type AS proposed_type, r.state AS state, r.method AS drawn_by, count(*) AS edges
ORDER BY edges DESC
