// Blockers of an item
// What stands in its way, and what stands in the way of that.
// :param namespace => 'sample'
// :param blocked => 'mem-soc2-finding'
MATCH path = (:Item)-[:BLOCKS*1..6]->(:Item {namespace: $namespace, uid: $blocked})
RETURN path LIMIT 100
