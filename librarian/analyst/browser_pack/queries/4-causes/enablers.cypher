// Enablers of an item
// What made it possible.
// :param namespace => 'sample'
// :param enabled => 'fact-deploy-window-2'
MATCH path = (:Item)-[:ENABLES*1..6]->(:Item {namespace: $namespace, uid: $enabled})
RETURN path LIMIT 100
