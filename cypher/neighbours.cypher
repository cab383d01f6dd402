// What the graph holds beside items: accepted typed edges, and links between facts and their evidence.

// name: search_neighbours
// purpose: for each of some items those that pass the filters and that an accepted edge or an evidence link joins to it, the surest first
// params: namespace, kinds, types, authors, conversation_id, session_id, person_id, domain, tags, agent, path_prefix, occurred_from, occurred_to, unknown_time, as_of, known_at, held_from, held_to, expired, resembling, uids, limit (neighbours an item)
// returns: seed, uid, relation, confidence (0..1)
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS seed
MATCH (s:Item {namespace: $namespace, uid: seed})
CALL (s) {
  MATCH (s)-[r:CAUSES|BLOCKS|ENABLES|RELATES_TO|EVIDENCED_BY]-(m:Item)
  WHERE (r.edge_id IS NOT NULL OR r:EVIDENCED_BY) AND m <> s AND {{item_filters}}
  RETURN m.uid AS uid, type(r) AS relation, coalesce(r.confidence, 1.0) AS confidence
  ORDER BY confidence DESC, uid, relation LIMIT $limit
}
RETURN seed, uid, relation, confidence ORDER BY seed, confidence DESC, uid, relation

// name: causes_of_items
// purpose: for each of some items those that pass the filters and that an accepted edge says led to it, the surest first
// params: namespace, kinds, types, authors, conversation_id, session_id, person_id, domain, tags, agent, path_prefix, occurred_from, occurred_to, unknown_time, as_of, known_at, held_from, held_to, expired, resembling, uids, limit (causes an item)
// returns: seed, uid, relation, confidence (0..1)
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS seed
MATCH (s:Item {namespace: $namespace, uid: seed})
CALL (s) {
  MATCH (s)<-[r:CAUSES|ENABLES]-(m:Item)
  WHERE r.edge_id IS NOT NULL AND {{item_filters}}
  RETURN m.uid AS uid, type(r) AS relation, coalesce(r.confidence, 1.0) AS confidence
  ORDER BY confidence DESC, uid, relation LIMIT $limit
}
RETURN seed, uid, relation, confidence ORDER BY seed, confidence DESC, uid, relation
