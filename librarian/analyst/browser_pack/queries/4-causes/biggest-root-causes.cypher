// The biggest root causes
// Of the whole namespace: nothing is known to have caused them, and most follows from them.
// :param namespace => 'sample'
MATCH (root:Item)-[:CAUSES]->(:Item)
WHERE root.namespace = $namespace AND NOT EXISTS { (:Item)-[:CAUSES]->(root) }
WITH DISTINCT root
MATCH (root)-[:CAUSES*1..6]->(effect:Item)
RETURN root.uid AS uid, root.name AS name, count(DISTINCT effect) AS effects
ORDER BY effects DESC, uid LIMIT 20
