// Quotes behind the causes
// Each step with its reason, a quote from both ends, and who drew it: rule, llm or human.
// :param namespace => 'sample'
// :param uid => 'mem-deploy-failed'
MATCH path = (:Item)-[:CAUSES*1..6]->(:Item {namespace: $namespace, uid: $uid})
UNWIND relationships(path) AS r
WITH DISTINCT r
RETURN startNode(r).name AS cause, endNode(r).name AS effect, r.reason AS reason, r.source_quote AS cause_says,
  r.target_quote AS effect_says, r.confidence AS confidence, r.method AS drawn_by, r.edge_id AS edge_id
