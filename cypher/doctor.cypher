// What `librarian doctor` asks the graph, and the adoption of edges that were drawn by hand, such as in Neo4j Browser:
// typed relationships between items that lack an edge_id.

// fragment: drawn
MATCH (source)-[r:CAUSES|BLOCKS|ENABLES|RELATES_TO]->(target)
WHERE r.edge_id IS NULL
  AND ($namespace IS NULL OR source.namespace = $namespace OR target.namespace = $namespace)
WITH source, target, r,
  CASE
    WHEN NOT (source:Item AND target:Item) THEN 'an end is no item'
    WHEN source.uid IS NULL OR target.uid IS NULL OR source.namespace IS NULL OR target.namespace IS NULL
      THEN 'an end has no uid or namespace'
    WHEN source.namespace <> target.namespace THEN 'it crosses namespaces'
    WHEN source = target THEN 'it leads from an item to itself'
  END AS fault

// name: count_drawn_edges
// purpose: count typed relationships without an edge_id, by the fault that keeps them from being adopted
// params: namespace (null: all)
// returns: fault (null: nothing), edges, examples (a few, as text)
// access: read
// scope: admin
CYPHER 25
{{drawn}}
RETURN fault, count(*) AS edges,
  collect(coalesce(toString(source.uid), elementId(source)) + ' -' + type(r) + '-> '
    + coalesce(toString(target.uid), elementId(target)))[..3] AS examples
ORDER BY edges DESC, fault

// name: adoptable_edges
// purpose: some typed relationships without an edge_id that can get one
// params: namespace (null: all), limit
// returns: namespace, source, target, type
// access: read
// scope: admin
CYPHER 25
{{drawn}}
WITH source, target, r
WHERE fault IS NULL
RETURN source.namespace AS namespace, source.uid AS source, target.uid AS target, type(r) AS type
LIMIT $limit

// name: adopt_edges
// purpose: complete the relationships of a type between two items that were drawn by hand; all become one edge
// params: rows (namespace, source, target, type, edge_id; in the order and direction in which edges are stored)
// returns: namespace, source, target, type, edge_id, merged (boolean: an edge was there already)
// access: write
// scope: admin
CYPHER 25
UNWIND $rows AS row
MATCH (source:Item {namespace: row.namespace, uid: row.source})
MATCH (target:Item {namespace: row.namespace, uid: row.target})
// Taking away a label that no item carries locks both ends and changes nothing.
REMOVE source:Locked
REMOVE target:Locked
WITH row, source, target
CALL (row, source, target) {
  MATCH (source)-[drawn:$(row.type)]-(target)
  WHERE drawn.edge_id IS NULL AND (row.type = 'RELATES_TO' OR startNode(drawn) = source)
  RETURN collect(drawn) AS drawn
}
WITH row, source, target, drawn
WHERE size(drawn) > 0
CALL (row, source, target) {
  OPTIONAL MATCH (source)-[known:$(row.type)]->(target)
  WHERE known.edge_id IS NOT NULL
  RETURN head(collect(known.edge_id)) AS known
}
CALL (row, source, target) {
  OPTIONAL MATCH (source)-[proposal:PROPOSED {type: row.type}]->(target)
  RETURN collect(proposal) AS proposals
}
WITH row, source, target, drawn, known, proposals, coalesce(known, head(proposals).edge_id, row.edge_id) AS edge_id
FOREACH (proposal IN proposals | DELETE proposal)
CALL (row, source, target, drawn, edge_id) {
  MERGE (source)-[edge:$(row.type) {edge_id: edge_id}]->(target)
  ON CREATE SET edge.method = 'human', edge.confidence = 1.0, edge.created_at = datetime()
  WITH edge, drawn, properties(edge) AS own
  FOREACH (one IN drawn | SET edge += properties(one))
  FOREACH (one IN drawn | DELETE one)
  SET edge += own
}
RETURN row.namespace AS namespace, row.source AS source, row.target AS target, row.type AS type, edge_id,
  known IS NOT NULL AS merged

// name: server_clock
// purpose: the database's own time
// params: none
// returns: now
// access: read
// scope: admin
CYPHER 25
RETURN datetime.realtime() AS now

// name: count_unread_files
// purpose: count the files whose contents are not stored for one reason
// params: reason
// returns: files, examples (a few paths with their namespaces)
// access: read
// scope: admin
CYPHER 25
MATCH (f:File {unread: $reason})
RETURN count(*) AS files, collect(f.path + ' of ' + f.namespace)[..3] AS examples
