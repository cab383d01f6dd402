// Citations: lines of files that facts and memories name as their evidence. A citation outlives the parts of the file
// that held its lines, so that what became of them can be said.

// name: put_citations
// purpose: locked items, whose links are gone by then, cite these lines and no others; a citation that was there stays as it is
// params: namespace, rows (uid, refs, citations: list of {ref, path, start_line, end_line})
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (m:Item {namespace: $namespace, uid: row.uid})
CALL (m, row) {
  MATCH (m)-[:CITES]->(old:Citation {namespace: $namespace})
  WHERE NOT old.ref IN row.refs
  DETACH DELETE old
}
UNWIND row.citations AS citation
MERGE (n:Citation {namespace: $namespace, uid: row.uid, ref: citation.ref})
ON CREATE SET n += citation, n.state = 'not_found', n.name = left(citation.path, 60)
MERGE (m)-[:CITES]->(n)

// name: list_citations
// purpose: citations of these files
// params: namespace, paths
// returns: uid, ref, path, start_line, end_line, sha256 (of the cited lines; null until they were found), text (what they begin with)
// access: read
// scope: namespace
CYPHER 25
UNWIND $paths AS path
MATCH (n:Citation {namespace: $namespace, path: path})
RETURN n.uid AS uid, n.ref AS ref, n.path AS path, n.start_line AS start_line, n.end_line AS end_line, n.sha256 AS sha256,
  n.text AS text

// name: chunks_of_paths
// purpose: all parts of these files, in order
// params: namespace, paths
// returns: found (list of [uid, path, start_line, start_column, text])
// access: read
// scope: namespace
CYPHER 25
UNWIND $paths AS path
MATCH (:File {namespace: $namespace, path: path})-[:HAS_CHUNK]->(c:FileChunk {namespace: $namespace})
WITH c ORDER BY c.path, c.start_line, c.start_column
RETURN collect({{chunk_row}}) AS found

// name: settle_citations
// purpose: write down where cited lines stand now, and link the items with the parts of files that hold them
// params: namespace, rows (uid, ref, start_line, end_line, sha256, text, state, chunks: uids)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (n:Citation {namespace: $namespace, uid: row.uid, ref: row.ref})
SET n.stale_since = CASE row.state
    WHEN 'current' THEN null
    WHEN n.state THEN coalesce(n.stale_since, datetime())
    ELSE datetime() END,
  n.start_line = row.start_line, n.end_line = row.end_line, n.sha256 = row.sha256, n.text = row.text, n.state = row.state
WITH n, row
MATCH (m:Item {namespace: $namespace, uid: row.uid})
CALL (m, row) {
  MATCH (m)-[link:EVIDENCED_BY {ref: row.ref}]->(c:Item {namespace: $namespace})
  DELETE link
}
UNWIND row.chunks AS uid
MATCH (c:FileChunk&Item {namespace: $namespace, uid: uid})
CREATE (m)-[:EVIDENCED_BY {ref: row.ref, start_line: row.start_line, end_line: row.end_line, sha256: row.sha256}]->(c)

// name: list_stale
// purpose: citations whose lines do not stand where they were found, by path
// params: namespace, states, limit
// returns: uid, kind, name, ref, path, start_line, end_line, state, stale_since, text (what the cited lines began with)
// access: read
// scope: namespace
CYPHER 25
MATCH (n:Citation {namespace: $namespace})
WHERE n.state IN $states
MATCH (m:Item {namespace: $namespace, uid: n.uid})
RETURN m.uid AS uid, m.kind AS kind, m.name AS name, n.ref AS ref, n.path AS path, n.start_line AS start_line,
  n.end_line AS end_line, n.state AS state, n.stale_since AS stale_since, n.text AS text
ORDER BY path, start_line, uid, ref LIMIT $limit
