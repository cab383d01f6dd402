// Blast radius of an item
// Everything that it led to, over up to six causes and blocks.
// :param namespace => 'sample'
// :param cause => 'mem-chart-cleanup'
MATCH path = (:Item {namespace: $namespace, uid: $cause})-[:CAUSES|BLOCKS*1..6]->(:Item)
WHERE all(step IN nodes(path) WHERE step.namespace = $namespace)
RETURN path LIMIT 150
