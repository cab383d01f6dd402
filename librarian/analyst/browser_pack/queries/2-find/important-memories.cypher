// Important memories
// What agents thought most worth keeping, as a picture.
// :param namespace => 'sample'
MATCH (m:Memory)
WHERE m.namespace = $namespace AND m.importance IS NOT NULL
RETURN m ORDER BY m.importance DESC, m.occurred_at DESC LIMIT 25
