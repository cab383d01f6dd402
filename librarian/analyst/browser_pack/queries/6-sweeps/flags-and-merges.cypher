// Flags and merges to decide
// Types that a sweep was not sure of, and memories that seem to say the same.
// :param namespace => 'sample'
MATCH (:SweepRun)-[c:CHANGED]->(m:Item)
WHERE c.namespace = $namespace AND c.action IN ['flag', 'merge'] AND c.state = 'proposed'
OPTIONAL MATCH (other:Item {namespace: $namespace, uid: c.target})
RETURN c.action AS action, m.name AS memory, coalesce(m.type, 'none') AS type, c.new_type AS proposed_type,
  other.name AS same_as, c.confidence AS confidence, c.reason AS reason, c.sweep_id + '-' + toString(c.seq) AS review_id
ORDER BY action, review_id LIMIT 200
