// What makes a copy of the graph one for analysts.

// name: settle_copy
// purpose: take the marks from some items that wait for a vector; in a copy without vectors none will come
// params: limit
// returns: settled (items)
// access: write
// scope: admin
CYPHER 25
MATCH (m:PendingEmbedding)
WITH m LIMIT $limit
REMOVE m:PendingEmbedding
RETURN count(m) AS settled

// name: stamp_copy
// purpose: mark the graph as a copy, with its source and time
// params: name, taken_at (time), namespaces, items
// returns: nothing
// access: write
// scope: admin
CYPHER 25
MERGE (c:AnalystCopy {name: $name})
SET c.taken_at = $taken_at, c.namespaces = $namespaces, c.items = $items
