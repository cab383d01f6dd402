// Causes of an item
// Every chain of up to six causes that leads to it.
// :param namespace => 'sample'
// :param uid => 'mem-deploy-failed'
MATCH path = (:Item)-[:CAUSES*1..6]->(:Item {namespace: $namespace, uid: $uid})
WHERE all(step IN nodes(path) WHERE step.namespace = $namespace)
RETURN path LIMIT 100
