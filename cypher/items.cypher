// name: get_item
// purpose: one item as a node, with evidence, for inflation into a typed object
// params: namespace, uid
// returns: node, evidence
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item {namespace: $namespace, uid: $uid})
RETURN m AS node, COLLECT {
  MATCH (m)-[:EVIDENCED_BY]->(source:Item) WHERE source.namespace = $namespace
  RETURN source {.uid, .message_id, .author_name, .text, .sent_at} ORDER BY source.sent_at, source.uid
} AS evidence

// name: count_items
// purpose: how many items a namespace holds, by kind
// params: namespace
// returns: kind, items
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item {namespace: $namespace})
RETURN m.kind AS kind, count(m) AS items ORDER BY kind
