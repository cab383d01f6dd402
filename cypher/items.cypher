// name: get_item
// purpose: one item as a node, for inflation into a typed object
// params: namespace, uid
// returns: node
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item {namespace: $namespace, uid: $uid})
RETURN m AS node
