// Last sweep as picture
// The run and the memories that it touched, up to 80.
// :param namespace => 'sample'
MATCH (s:SweepRun)
WHERE s.namespace = $namespace
WITH s ORDER BY s.started_at DESC LIMIT 1
MATCH path = (s)-[:CHANGED]->(:Item)
RETURN path LIMIT 80
