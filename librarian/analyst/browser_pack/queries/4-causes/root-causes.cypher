// Root causes of an item
// Where the chains begin: nothing is known to have caused these.
// :param namespace => 'sample'
// :param uid => 'mem-deploy-failed'
MATCH path = (root:Item)-[:CAUSES*1..8]->(:Item {namespace: $namespace, uid: $uid})
WHERE all(step IN nodes(path) WHERE step.namespace = $namespace) AND NOT EXISTS { (:Item)-[:CAUSES]->(root) }
RETURN root.uid AS uid, root.name AS name, min(length(path)) AS steps, left(root.text, 200) AS text
ORDER BY steps DESC
