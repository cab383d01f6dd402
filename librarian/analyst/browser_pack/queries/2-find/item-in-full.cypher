// One item in full
// All that is stored about it, without what is derived for searching.
// :param namespace => 'sample'
// :param uid => 'mem-deploy-failed'
MATCH (m:Item {namespace: $namespace, uid: $uid})
UNWIND keys(m) AS property
WITH m, property
WHERE NOT property IN ['search_text', 'tokens', 'source_hash']
RETURN property, m[property] AS value ORDER BY property
