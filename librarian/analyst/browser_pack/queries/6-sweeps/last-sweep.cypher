// Changes of the last sweep
// Types, sections and edges. What it was not sure of stands there as proposed.
// :param namespace => 'sample'
MATCH (s:SweepRun)
WHERE s.namespace = $namespace
WITH s ORDER BY s.started_at DESC LIMIT 1
MATCH (s)-[c:CHANGED]->(m:Item)
RETURN c.seq AS change, c.action AS action, c.state AS state, m.name AS memory, c.old_type AS old_type,
  c.new_type AS new_type, c.relation AS edge, c.confidence AS confidence, c.reason AS reason, m.uid AS uid
ORDER BY change LIMIT 500
