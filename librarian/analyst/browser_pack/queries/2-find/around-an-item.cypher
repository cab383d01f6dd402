// Around an item
// The item and everything joined to it, except vectors.
// :param namespace => 'sample'
// :param uid => 'mem-deploy-failed'
MATCH (m:Item {namespace: $namespace, uid: $uid})
OPTIONAL MATCH path = (m)-[:!HAS_EMBEDDING]-()
RETURN m, path LIMIT 100
