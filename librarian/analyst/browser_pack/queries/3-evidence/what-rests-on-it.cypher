// What rests on an item
// Facts and memories that name it as their evidence: doubt it, and you doubt them.
// :param namespace => 'sample'
// :param message => 'msg-deploy-013'
MATCH path = (:Item)-[:EVIDENCED_BY]->(:Item {namespace: $namespace, uid: $message})
RETURN path
