// Causal questions: one step of a walk along typed edges, and what contradicts itself or comes back to itself. Walks are
// made level by level by the caller, so that a hub or a cycle costs no more than its edges.

// fragment: stands
r.edge_id IS NOT NULL AND {{is_edge}}
    AND ($types IS NULL OR {{edge_type}} IN $types) AND ($states IS NULL OR {{edge_state}} IN $states)

// fragment: in_time
coalesce(n.occurred_at, $unknown_time) >= $occurred_from AND coalesce(n.occurred_at, $unknown_time) <= $occurred_to

// fragment: brief
n {.uid, .kind, .name, .type, .occurred_at, text: left(n.text, 300)} AS item

// fragment: surest_first
ORDER BY coalesce(r.confidence, 1.0) DESC, r.edge_id LIMIT $limit

// fragment: step
RETURN {{edge}}, from_uid, {{brief}}
{{surest_first}}

// name: causal_step_out
// purpose: the edges that leave items, the surest first, with the items that they lead to
// params: namespace, uids, types, states (null means any), occurred_from, occurred_to, unknown_time, limit (an item's, and all items')
// returns: source, target, type, state, properties, from_uid, item (where the edge leads)
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS from_uid
MATCH (m:Item {namespace: $namespace, uid: from_uid})
CALL (m) {
  MATCH (m)-[r:{{kinds}}]->(n:Item)
  WHERE n.namespace = $namespace AND n <> m AND {{stands}} AND {{in_time}}
  RETURN r, n {{surest_first}}
}
WITH from_uid, m AS source, n AS target, r, n
{{step}}

// name: causal_step_in
// purpose: the edges that enter items, the surest first, with the items that they come from
// params: namespace, uids, types, states (null means any), occurred_from, occurred_to, unknown_time, limit (an item's, and all items')
// returns: source, target, type, state, properties, from_uid, item (where the edge comes from)
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS from_uid
MATCH (m:Item {namespace: $namespace, uid: from_uid})
CALL (m) {
  MATCH (m)<-[r:{{kinds}}]-(n:Item)
  WHERE n.namespace = $namespace AND n <> m AND {{stands}} AND {{in_time}}
  RETURN r, n {{surest_first}}
}
WITH from_uid, n AS source, m AS target, r, n
{{step}}

// name: causal_step_either
// purpose: the edges at items, whichever way they point, the surest first, with the items at their other ends
// params: namespace, uids, types, states (null means any), occurred_from, occurred_to, unknown_time, limit (an item's, and all items')
// returns: source, target, type, state, properties, from_uid, item (at the other end)
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS from_uid
MATCH (m:Item {namespace: $namespace, uid: from_uid})
CALL (m) {
  MATCH (m)-[r:{{kinds}}]-(n:Item)
  WHERE n.namespace = $namespace AND n <> m AND {{stands}} AND {{in_time}}
  RETURN r, n {{surest_first}}
}
WITH from_uid, startNode(r) AS source, endNode(r) AS target, r, n
{{step}}

// name: causal_items
// purpose: summaries of items on a walk
// params: namespace, uids
// returns: item
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (n:Item {namespace: $namespace, uid: uid})
RETURN {{brief}}

// name: causal_edges
// purpose: the typed edges of some pairs, accepted or not
// params: namespace, rows (source, target)
// returns: source, target, type, state, properties
// access: read
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (source:Item {namespace: $namespace, uid: row.source})-[r:{{kinds}}]->(target:Item {namespace: $namespace, uid: row.target})
WHERE r.edge_id IS NOT NULL AND {{is_edge}}
RETURN {{edge}} ORDER BY r.edge_id

// name: causal_links
// purpose: edges that may be part of a cycle: something leads to their source, and their target leads on
// params: namespace, types, states (null means any), limit
// returns: source, target
// access: read
// scope: namespace
CYPHER 25
MATCH (source:Item {namespace: $namespace})-[r:{{kinds}}]->(target:Item {namespace: $namespace})
USING INDEX source:Item(namespace, uid)
WHERE source.uid IS NOT NULL AND source <> target AND {{stands}}
  AND EXISTS { (source)<-[:{{kinds}}]-(:Item {namespace: $namespace}) }
  AND EXISTS { (target)-[:{{kinds}}]->(:Item {namespace: $namespace}) }
RETURN DISTINCT source.uid AS source, target.uid AS target ORDER BY source, target LIMIT $limit

// name: edge_contradictions
// purpose: pairs of items of which one both causes and blocks the other
// params: namespace, states (null means any), limit (pairs)
// returns: source, target, type, state, properties (two rows or more a pair)
// access: read
// scope: namespace
CYPHER 25
MATCH (source:Item {namespace: $namespace})-[r:CAUSES|BLOCKS|PROPOSED]->(target:Item {namespace: $namespace})
USING INDEX source:Item(namespace, uid)
WHERE source.uid IS NOT NULL AND r.edge_id IS NOT NULL AND {{edge_type}} IN ['CAUSES', 'BLOCKS']
  AND {{edge_state}} <> 'rejected' AND ($states IS NULL OR {{edge_state}} IN $states)
WITH source, target, collect(r) AS edges, collect(DISTINCT {{edge_type}}) AS kinds
WHERE size(kinds) = 2
WITH source, target, edges ORDER BY source.uid, target.uid LIMIT $limit
UNWIND edges AS r
RETURN {{edge}} ORDER BY source, target, r.edge_id

// name: fact_contradictions
// purpose: pairs of facts about one person, of one type and relationship, that name different objects for one time
// params: namespace, person_id, as_of (both held then; null means any), unknown_time, limit
// returns: person_id, fact_type, relationship_type, first, second (facts), cut (there are more facts than were compared)
// access: read
// scope: namespace
CYPHER 25
MATCH (f:Item)
USING INDEX f:Item(namespace, uid)
WHERE f.uid IS NOT NULL AND f.namespace = $namespace AND f.person_id IS NOT NULL AND f.relationship_type IS NOT NULL
  AND f.fact_object IS NOT NULL AND ($person_id IS NULL OR f.person_id = $person_id)
  AND ($as_of IS NULL OR coalesce(f.valid_from, $unknown_time) <= $as_of AND f.valid_to > $as_of)
WITH f ORDER BY coalesce(f.valid_from, $unknown_time) DESC, f.uid
WITH f.person_id AS person_id, f.fact_type AS fact_type, f.relationship_type AS relationship_type, collect(f) AS facts,
  count(DISTINCT toLower(trim(f.fact_object))) AS objects
WHERE objects > 1
WITH person_id, fact_type, relationship_type, facts[..300] AS facts, size(facts) > 300 AS cut
CALL (facts) {
  UNWIND facts AS a
  UNWIND facts AS b
  WITH a, b
  WHERE a.uid < b.uid AND toLower(trim(a.fact_object)) <> toLower(trim(b.fact_object))
    AND coalesce(a.valid_from, $unknown_time) < b.valid_to AND coalesce(b.valid_from, $unknown_time) < a.valid_to
    AND NOT EXISTS { (a)-[:SUPERSEDES]-(b) }
  RETURN a, b ORDER BY a.uid, b.uid LIMIT $limit
}
RETURN person_id, fact_type, relationship_type, cut,
  a {.uid, .text, object: a.fact_object, .confidence, .valid_from, .valid_to} AS first,
  b {.uid, .text, object: b.fact_object, .confidence, .valid_from, .valid_to} AS second
ORDER BY person_id, relationship_type, fact_type, first.uid, second.uid LIMIT $limit
