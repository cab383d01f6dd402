// History of an item
// What it said before each change, the newest first: read back how it came to say what it says.
// :param namespace => 'sample'
// :param changed => 'mem-preflight'
MATCH (:Item {namespace: $namespace, uid: $changed})-[:HAS_REVISION]->(v:Revision)
RETURN v.version AS version, v.revised_at AS changed_at, v.actor AS changed_by, v.reason AS reason, v.type AS type, v.text AS text
ORDER BY changed_at DESC, version DESC
