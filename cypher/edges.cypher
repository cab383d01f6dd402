// Typed edges between items of one namespace. A relationship without an edge_id was drawn by hand and is none of these
// statements' business until it is adopted.

// fragment: kinds
CAUSES|BLOCKS|ENABLES|RELATES_TO|PROPOSED

// fragment: edge_type
CASE type(r) WHEN 'PROPOSED' THEN r.type ELSE type(r) END

// fragment: edge_state
CASE WHEN type(r) <> 'PROPOSED' THEN 'accepted' WHEN r.state IN ['accepted', 'rejected'] THEN r.state ELSE 'proposed' END

// fragment: edge
source.uid AS source, target.uid AS target, {{edge_type}} AS type, {{edge_state}} AS state, properties(r) AS properties

// fragment: is_edge
// That a fact may supersede another is proposed, but no edge.
coalesce(r.type, '') <> 'SUPERSEDES'

// fragment: edge_page
  AND r.edge_id > $after AND {{is_edge}}
  AND ($types IS NULL OR {{edge_type}} IN $types) AND ($states IS NULL OR {{edge_state}} IN $states)
  AND ($methods IS NULL OR coalesce(r.method, 'human') IN $methods)
  AND coalesce($uid, source.uid) IN [source.uid, target.uid]
  AND (source.uid = coalesce($source, source.uid) AND target.uid = coalesce($target, target.uid)
    OR {{edge_type}} = 'RELATES_TO'
      AND target.uid = coalesce($source, target.uid) AND source.uid = coalesce($target, source.uid))
WITH source, target, r ORDER BY r.edge_id LIMIT $limit
RETURN {{edge}}
ORDER BY r.edge_id

// name: put_edges
// purpose: create typed edges between existing items; an existing one stays unchanged, a proposed one is accepted
// params: namespace, rows (line, source, target, type, edge_id, properties)
// returns: line, created (boolean), edge_id (of a created one), accepted (it was proposed before), missing (uids of ends that do not exist)
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
OPTIONAL MATCH (source:Item {namespace: $namespace, uid: row.source})
OPTIONAL MATCH (target:Item {namespace: $namespace, uid: row.target})
WITH row, source, target,
  EXISTS { (source)-[r:CAUSES|BLOCKS|ENABLES|RELATES_TO]->(target) WHERE type(r) = row.type } AS known
OPTIONAL CALL (row, source, target, known) {
  WITH row, source, target, known
  WHERE source IS NOT NULL AND target IS NOT NULL AND NOT known
  OPTIONAL MATCH (source)-[proposal:PROPOSED {type: row.type}]->(target)
  WITH row, source, target, collect(proposal) AS proposals
  WITH row, source, target, proposals, coalesce(head(proposals).edge_id, row.edge_id) AS edge_id
  FOREACH (proposal IN proposals | DELETE proposal)
  MERGE (source)-[r:$(row.type)]->(target)
  ON CREATE SET r = row.properties, r.edge_id = edge_id, r.created_at = datetime()
  RETURN edge_id, size(proposals) > 0 AS accepted
}
RETURN row.line AS line, NOT known AS created, edge_id, accepted,
  [end IN [[row.source, source IS NULL], [row.target, target IS NULL]] WHERE end[1] | end[0]] AS missing

// name: edges_between
// purpose: all typed edges from one item to another, proposed ones included
// params: namespace, source, target
// returns: source, target, type, state, properties
// access: read
// scope: namespace
CYPHER 25
MATCH (source:Item {namespace: $namespace, uid: $source})-[r:{{kinds}}]->(target:Item {namespace: $namespace, uid: $target})
WHERE r.edge_id IS NOT NULL
RETURN {{edge}}
ORDER BY r.edge_id

// name: put_edge
// purpose: create one typed edge, or change the one with this id; its proposals, and edges of its type without an id, give way to it
// params: namespace, source, target, type, edge_id, properties, reviewed_by (null: nobody, the edge is new)
// returns: source, target, type, state, properties
// access: write
// scope: namespace
CYPHER 25
MATCH (source:Item {namespace: $namespace, uid: $source})
MATCH (target:Item {namespace: $namespace, uid: $target})
OPTIONAL MATCH (source)-[proposal:PROPOSED {type: $type}]->(target)
WITH source, target, proposal ORDER BY proposal.edge_id
WITH source, target, collect(proposal) AS proposals
OPTIONAL MATCH (source)-[nameless:$($type)]->(target) WHERE nameless.edge_id IS NULL
WITH source, target, proposals, coalesce(properties(head(proposals)), {}) AS proposed, collect(nameless) AS nameless
FOREACH (old IN proposals + nameless | DELETE old)
MERGE (source)-[r:$($type) {edge_id: $edge_id}]->(target)
ON CREATE SET r = proposed, r.edge_id = $edge_id, r.type = null, r.state = null,
  r.created_at = coalesce(proposed.created_at, datetime())
SET r += $properties, r.reviewed_by = coalesce($reviewed_by, r.reviewed_by),
  r.reviewed_at = CASE WHEN $reviewed_by IS NULL THEN r.reviewed_at ELSE datetime() END
RETURN {{edge}}

// name: get_edge
// purpose: one typed edge, accepted or not
// params: namespace, edge_id
// returns: source, target, type, state, properties
// access: read
// scope: namespace
CYPHER 25
MATCH (source:Item {namespace: $namespace})-[r:{{kinds}} {edge_id: $edge_id}]->(target:Item {namespace: $namespace})
RETURN {{edge}}

// name: delete_edge
// purpose: remove one typed edge, accepted or not
// params: namespace, edge_id
// returns: source, target, type, state, properties (as they were)
// access: write
// scope: namespace
CYPHER 25
MATCH (source:Item {namespace: $namespace})-[r:{{kinds}} {edge_id: $edge_id}]->(target:Item {namespace: $namespace})
WITH r, {{edge}}
DELETE r
RETURN source, target, type, state, properties

// name: list_edges
// purpose: a page of a namespace's typed edges, by edge_id
// params: namespace, after (edge_id), types, states, methods, uid, source, target (null means any), limit
// returns: source, target, type, state, properties
// access: read
// scope: namespace
CYPHER 25
MATCH (source:Item {namespace: $namespace})-[r:{{kinds}}]->(target:Item {namespace: $namespace})
// Without the hint the server reads the edges of all namespaces in the order of their ids.
USING INDEX source:Item(namespace, uid)
WHERE source.uid IS NOT NULL
{{edge_page}}

// name: list_edges_at
// purpose: list_edges where one end is known, found through that item
// params: namespace, anchor (uid), after (edge_id), types, states, methods, uid, source, target (null means any), limit
// returns: source, target, type, state, properties
// access: read
// scope: namespace
CYPHER 25
MATCH (anchor:Item {namespace: $namespace, uid: $anchor})-[r:{{kinds}}]-(other:Item {namespace: $namespace})
WITH startNode(r) AS source, endNode(r) AS target, r
WHERE source <> target
{{edge_page}}
