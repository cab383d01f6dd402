// Causes and blocks at once
// One item is said to cause and to block the same other one: one of the edges is wrong.
// :param namespace => 'sample'
MATCH (a:Item)-[cause:CAUSES|PROPOSED]->(b:Item), (a)-[block:BLOCKS|PROPOSED]->(b)
WHERE a.namespace = $namespace AND cause <> block AND coalesce(cause.state, '') <> 'rejected'
  AND coalesce(block.state, '') <> 'rejected' AND coalesce(cause.type, type(cause)) = 'CAUSES'
  AND coalesce(block.type, type(block)) = 'BLOCKS'
RETURN a, cause, block, b LIMIT 50
