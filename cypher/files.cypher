// Files: their paths, their parts as exact text, and what their code defines.

// name: list_files
// purpose: the files of a namespace as they are stored, by path, page by page
// params: namespace, after (path), limit
// returns: path, root, size, mtime_ns, sha256 (null until the contents are stored), unread (why they are not, or null), language, lines, indexed_at
// access: read
// scope: namespace
CYPHER 25
MATCH (f:File {namespace: $namespace})
WHERE f.path > $after
RETURN f.path AS path, f.root AS root, f.size AS size, f.mtime_ns AS mtime_ns, f.sha256 AS sha256, f.unread AS unread,
  f.language AS language, f.lines AS lines, f.indexed_at AS indexed_at
ORDER BY f.namespace, f.path LIMIT $limit

// name: get_files
// purpose: some files as they are stored
// params: namespace, paths
// returns: path, root, size, mtime_ns, sha256 (null until the contents are stored), unread (why they are not, or null), language, lines, indexed_at
// access: read
// scope: namespace
CYPHER 25
UNWIND $paths AS path
MATCH (f:File {namespace: $namespace, path: path})
RETURN f.path AS path, f.root AS root, f.size AS size, f.mtime_ns AS mtime_ns, f.sha256 AS sha256, f.unread AS unread,
  f.language AS language, f.lines AS lines, f.indexed_at AS indexed_at

// name: files_below
// purpose: paths of the files in a folder
// params: namespace, folder (with its last slash), root
// returns: path
// access: read
// scope: namespace
CYPHER 25
MATCH (f:File {namespace: $namespace})
WHERE f.path STARTS WITH $folder AND f.root = $root
RETURN f.path AS path ORDER BY path

// name: put_files
// purpose: paths, to be found from now on; their contents follow
// params: namespace, rows (path, properties)
// returns: path (of those that are new)
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
OPTIONAL MATCH (known:File {namespace: $namespace, path: row.path})
WITH row, known IS NULL AS new
MERGE (f:File {namespace: $namespace, path: row.path})
// Size and time of a known file belong to the contents that are stored.
ON CREATE SET f += row.properties
SET f.root = row.properties.root
WITH f, new
WHERE new
RETURN f.path AS path

// name: claim_files
// purpose: lock files: later reads of them and their parts hold until the commit
// params: namespace, paths (sorted, so that two writers take locks in one order)
// returns: path, sha256, indexed_at (as text)
// access: write
// scope: namespace
CYPHER 25
UNWIND $paths AS path
MATCH (f:File {namespace: $namespace, path: path})
// Taking away a label that no node carries locks the node and changes nothing.
REMOVE f:Locked
RETURN f.path AS path, f.sha256 AS sha256, toString(f.indexed_at) AS indexed_at

// name: list_chunks
// purpose: the parts that files have
// params: namespace, paths
// returns: path, uid
// access: read
// scope: namespace
CYPHER 25
UNWIND $paths AS path
MATCH (:File {namespace: $namespace, path: path})-[:HAS_CHUNK]->(c:FileChunk {namespace: $namespace})
RETURN path, c.uid AS uid

// name: put_chunks
// purpose: new parts of claimed files, waiting for vectors unless they are blank
// params: namespace, rows (path, uid, properties, labels)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (f:File {namespace: $namespace, path: row.path})
CREATE (f)-[:HAS_CHUNK]->(c:Item:FileChunk:$(row.labels) {namespace: $namespace, uid: row.uid})
SET c += row.properties, c.created_at = datetime(), c.version = 1

// name: move_chunks
// purpose: parts of claimed files whose text is as before, at other lines
// params: namespace, rows (uid, start_line, end_line, name)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (c:FileChunk&Item {namespace: $namespace, uid: row.uid})
WHERE c.start_line <> row.start_line
SET c.start_line = row.start_line, c.end_line = row.end_line, c.name = row.name

// name: replace_symbols
// purpose: replace the definitions of claimed files
// params: namespace, rows (path, symbols: list of {name, key, kind, line, end_line})
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (f:File {namespace: $namespace, path: row.path})
CALL (f) {
  MATCH (f)-[:DEFINES]->(old:Symbol {namespace: $namespace})
  DETACH DELETE old
}
CALL (f, row) {
  UNWIND row.symbols AS symbol
  CREATE (f)-[:DEFINES]->(s:Symbol {namespace: $namespace, path: row.path})
  SET s += symbol
}

// name: finish_files
// purpose: claimed files have the contents that their parts hold now
// params: namespace, rows (path, properties)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (f:File {namespace: $namespace, path: row.path})
SET f += row.properties, f.indexed_at = datetime()

// name: delete_files
// purpose: delete claimed files without parts, with their definitions
// params: namespace, paths
// returns: deleted (files)
// access: write
// scope: namespace
CYPHER 25
UNWIND $paths AS path
MATCH (f:File {namespace: $namespace, path: path})
CALL (f) {
  MATCH (f)-[:DEFINES]->(s:Symbol {namespace: $namespace})
  DETACH DELETE s
}
DETACH DELETE f
RETURN count(*) AS deleted

// name: find_files
// purpose: files of this very name, those whose stem is one of these, in folders of these words, those whose stem begins so, and those that define a name
// params: namespace, name, suffix (end of the path, or ''), absolute (whole path on the machine, or ''), stems (list of {stem, folders, ending}), prefix (of a stem, or ''), names (without case), limit (of each way)
// returns: found (list of [path, whether it defines a name])
// access: read
// scope: namespace
CYPHER 25
CALL () {
  MATCH (f:File {namespace: $namespace, name_key: $name})
  // Planned while there were few files, it would walk all paths of the namespace for ever after.
  USING INDEX SEEK f:File(namespace, name_key)
  WHERE f.path_key ENDS WITH $suffix OR $absolute ENDS WITH f.path_key
  WITH f.path AS path ORDER BY size(path), path LIMIT $limit
  RETURN path, false AS defines
  UNION
  UNWIND $stems AS row
  MATCH (f:File {namespace: $namespace, stem_key: row.stem})
  USING INDEX SEEK f:File(namespace, stem_key)
  WHERE f.name_key ENDS WITH row.ending AND all(folder IN row.folders WHERE f.path_key CONTAINS folder)
  WITH f.path AS path ORDER BY size(path), path LIMIT $limit
  RETURN path, false AS defines
  UNION
  // The planner would put a condition on $prefix after the seek, which then reads every file of the namespace.
  UNWIND CASE $prefix WHEN '' THEN [] ELSE [$prefix] END AS prefix
  MATCH (f:File)
  USING INDEX SEEK f:File(namespace, stem_key)
  WHERE f.namespace = $namespace AND f.stem_key STARTS WITH prefix
  WITH f.path AS path LIMIT $limit
  RETURN path, false AS defines
  UNION
  UNWIND $names AS key
  MATCH (s:Symbol {namespace: $namespace, key: key})
  USING INDEX SEEK s:Symbol(namespace, key)
  WHERE NOT s.kind IN ['variable', 'property'] AND (s.kind <> 'method' OR key CONTAINS '_')
  WITH s.path AS path ORDER BY size(path), path LIMIT $limit
  RETURN path, true AS defines
}
RETURN collect([path, defines]) AS found

// name: find_files_by_words
// purpose: files whose paths hold these words, or words like them, and files whose outline holds some
// params: namespace, words (Lucene text for paths), outlines (Lucene text), stems (beginnings of words, each after a blank), limit (of each)
// returns: found (list of [path, indexes of the words that its outline holds])
// access: read
// scope: namespace
CYPHER 25
CALL () {
  MATCH (f:File) SEARCH f IN (FULLTEXT INDEX file_words FOR $words LIMIT $limit)
  WHERE f.namespace = $namespace
  RETURN f
  UNION
  MATCH (f:File) SEARCH f IN (FULLTEXT INDEX file_outline FOR $outlines LIMIT $limit)
  WHERE f.namespace = $namespace
  RETURN f
}
WITH f, coalesce(f.outline, '') AS outline
RETURN collect([f.path, [number IN range(0, size($stems) - 1) WHERE outline CONTAINS $stems[number]]]) AS found

// name: find_files_by_outline
// purpose: files whose outline holds some of these words, and files whose path does, each best first
// params: namespace, outlines (Lucene text), words (Lucene text for paths), stems (beginnings of words, each after a blank), limit (of each)
// returns: found (list of [path, whether it is here for its outline, indexes of the words that its outline holds])
// access: read
// scope: namespace
CYPHER 25
CALL () {
  MATCH (f:File) SEARCH f IN (FULLTEXT INDEX file_outline FOR $outlines LIMIT $limit) SCORE AS score
  WHERE f.namespace = $namespace
  RETURN f, score, true AS by_outline
  UNION ALL
  MATCH (f:File) SEARCH f IN (FULLTEXT INDEX file_words FOR $words LIMIT $limit) SCORE AS score
  WHERE f.namespace = $namespace
  RETURN f, score, false AS by_outline
}
WITH f.path AS path, by_outline, score, coalesce(f.outline, '') AS outline ORDER BY score DESC, size(path), path
RETURN collect([path, by_outline, [number IN range(0, size($stems) - 1) WHERE outline CONTAINS $stems[number]]]) AS found

// fragment: chunk_filters
($languages IS NULL OR c.language IN $languages)
  AND ($included IS NULL OR any(pattern IN $included WHERE c.path =~ pattern))
  AND none(pattern IN $excluded WHERE c.path =~ pattern)

// fragment: chunk_row
[c.uid, c.path, c.start_line, c.start_column, c.text]

// name: chunks_containing
// purpose: parts of files that contain a text, ignoring case, in index order
// params: namespace, needle (case-folded), languages, included (regular expressions of paths, or null), excluded, skip, limit
// returns: found (list of [uid, path, start_line, start_column, text])
// access: read
// scope: namespace
CYPHER 25
MATCH (c:FileChunk)
WHERE c.search_text CONTAINS $needle AND c.namespace = $namespace AND {{chunk_filters}}
WITH c SKIP $skip LIMIT $limit
RETURN collect({{chunk_row}}) AS found

// name: chunks_of_files
// purpose: all parts of the next files by path, to be read one after another; a file without parts is a row too
// params: namespace, after (path), languages, included (regular expressions of paths, or null), excluded, limit
// returns: found (list of [uid: null for a file without parts, path, start_line, start_column, text])
// access: read
// scope: namespace
CYPHER 25
MATCH (c:File {namespace: $namespace})
WHERE c.path > $after AND {{chunk_filters}}
WITH c AS f ORDER BY f.namespace, f.path LIMIT $limit
OPTIONAL MATCH (f)-[:HAS_CHUNK]->(c:FileChunk {namespace: $namespace})
WITH f, c ORDER BY f.path, c.start_line, c.start_column
RETURN collect([c.uid, f.path, c.start_line, c.start_column, c.text]) AS found

// name: chunks_at
// purpose: parts of files that hold some of these lines
// params: namespace, rows (path, first_line, last_line)
// returns: found (list of [uid, path, start_line, start_column, text])
// access: read
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (:File {namespace: $namespace, path: row.path})-[:HAS_CHUNK]->(c:FileChunk {namespace: $namespace})
WHERE c.start_line <= row.last_line AND c.end_line >= row.first_line
WITH DISTINCT c ORDER BY c.path, c.start_line, c.start_column
RETURN collect({{chunk_row}}) AS found

// name: find_symbols
// purpose: where a name is defined
// params: namespace, symbol (case-folded name), languages, included (regular expressions of paths, or null), excluded, limit
// returns: path, name, kind, line, end_line, scope (names around it, with dots)
// access: read
// scope: namespace
CYPHER 25
MATCH (c:Symbol {namespace: $namespace, key: $symbol})
USING INDEX SEEK c:Symbol(namespace, key)
WHERE {{chunk_filters}}
RETURN c.path AS path, c.name AS name, c.kind AS kind, c.line AS line, c.end_line AS end_line,
  coalesce(c.scope, '') AS scope
ORDER BY path, line LIMIT $limit

// name: chunks_named
// purpose: the part of a file that a path or the name of a definition means, where it means one only
// params: namespace, rows (index, name, suffix, line, symbol, key: the symbol without case; '' for what it is not)
// returns: index, uid, version, path, line, start_line, text
// access: read
// scope: namespace
CYPHER 25
UNWIND $rows AS row
CALL (row) {
  MATCH (f:File {namespace: $namespace, name_key: row.name})
  USING INDEX SEEK f:File(namespace, name_key)
  WHERE f.path_key ENDS WITH row.suffix
  RETURN f.path AS path, row.line AS line LIMIT 2
  UNION
  MATCH (s:Symbol {namespace: $namespace, key: row.key})
  USING INDEX SEEK s:Symbol(namespace, key)
  WHERE s.name = row.symbol
  RETURN s.path AS path, s.line AS line LIMIT 2
}
WITH row, collect({path: path, line: line}) AS meant
WHERE size(meant) = 1
WITH row.index AS index, meant[0].path AS path, meant[0].line AS line
MATCH (:File {namespace: $namespace, path: path})-[:HAS_CHUNK]->(c:FileChunk&Item {namespace: $namespace})
WHERE c.start_line <= line AND line <= c.end_line AND c.start_column = 0
RETURN index, c.uid AS uid, coalesce(c.version, 1) AS version, path, line, c.start_line AS start_line, c.text AS text
ORDER BY index, start_line
