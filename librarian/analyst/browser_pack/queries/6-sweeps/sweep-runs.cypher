// Sweeps, the latest first
// When each ran, how it ended, and how many changes it made or proposes.
// :param namespace => 'sample'
MATCH (s:SweepRun)
WHERE s.namespace = $namespace
RETURN s.sweep_id AS sweep_id, s.status AS status, s.started_at AS started_at, s.actor AS actor,
  COUNT { (s)-[:CHANGED]->() } AS changes, COUNT { (s)-[c:CHANGED]->() WHERE c.state = 'proposed' } AS undecided
ORDER BY started_at DESC
