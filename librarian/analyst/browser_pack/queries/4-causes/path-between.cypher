// Path between two items
// The shortest path, whichever way edges point.
// :param namespace => 'sample'
// :param uid => 'mem-deploy-failed'
// :param cause => 'mem-chart-cleanup'
MATCH (a:Item {namespace: $namespace, uid: $cause}), (b:Item {namespace: $namespace, uid: $uid})
MATCH path = shortestPath((a)-[:CAUSES|BLOCKS|ENABLES|RELATES_TO*..8]-(b))
RETURN path
