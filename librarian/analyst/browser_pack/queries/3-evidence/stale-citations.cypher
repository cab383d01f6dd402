// Stale evidence
// Lines of files that were changed, are gone or were never found.
// :param namespace => 'sample'
MATCH path = (:Item)-[:CITES]->(c:Citation)
WHERE c.namespace = $namespace AND c.state <> 'current'
RETURN path LIMIT 100
