// The latest changes
// Facts and memories that were changed, the newest change first.
// :param namespace => 'sample'
MATCH (m:Item)-[:HAS_REVISION]->(v:Revision)
WHERE v.namespace = $namespace
RETURN v.revised_at AS changed_at, v.actor AS changed_by, v.reason AS reason, m.name AS item, m.uid AS uid,
  v.text <> m.text AS text_differs
ORDER BY changed_at DESC LIMIT 100
