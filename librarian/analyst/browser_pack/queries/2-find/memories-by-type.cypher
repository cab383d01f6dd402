// Memories by type
// How many memories there are of each type, and how important they are on average.
// :param namespace => 'sample'
MATCH (m:Memory)
WHERE m.namespace = $namespace
RETURN coalesce(m.type, 'none') AS type, count(*) AS memories, round(avg(m.importance), 1) AS importance
ORDER BY memories DESC
