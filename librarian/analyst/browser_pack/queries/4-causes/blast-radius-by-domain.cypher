// Blast radius by domain
// How far it reached, and when it was first felt there.
// :param namespace => 'sample'
// :param cause => 'mem-chart-cleanup'
MATCH path = (:Item {namespace: $namespace, uid: $cause})-[:CAUSES|BLOCKS*1..6]->(hit:Item)
WITH hit, min(length(path)) AS steps
RETURN coalesce(hit.domain, 'none') AS domain, count(*) AS items, max(steps) AS farthest, min(hit.occurred_at) AS first_felt
ORDER BY items DESC
