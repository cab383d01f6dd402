// name: get_item
// purpose: one item as a node, for inflation into a typed object
// params: namespace, uid
// returns: node
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item {namespace: $namespace, uid: $uid})
RETURN m AS node

// name: read_for_change
// purpose: a locked item whole, with the end of validity that its own row gave it, and the facts that supersede it
// params: namespace, uid
// returns: item, stated_valid_to, superseded_by (whole facts, oldest first)
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item {namespace: $namespace, uid: $uid})
CALL (m) {
  OPTIONAL MATCH (newer:Fact)-[closing:SUPERSEDES]->(m)
  WHERE newer.namespace = $namespace
  WITH newer, closing ORDER BY newer.created_at, newer.uid
  RETURN collect(newer {.*, tokens: null, search_text: null}) AS superseded_by,
    collect(newer.valid_from) AS closed_at, max(closing.former_valid_to) AS former_valid_to
}
RETURN m {.*, tokens: null, search_text: null} AS item, superseded_by,
  CASE WHEN m.valid_to IN closed_at THEN coalesce(former_valid_to, m.valid_to) ELSE m.valid_to END AS stated_valid_to

// name: list_revisions
// purpose: revisions of a fact or memory before each of its changes, newest first; one row of null if there are none
// params: namespace, uid
// returns: revision
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item {namespace: $namespace, uid: $uid})
OPTIONAL MATCH (m)-[:HAS_REVISION]->(r:Revision)
WHERE r.namespace = $namespace
RETURN properties(r) AS revision
ORDER BY r.version DESC, r.revised_at DESC, r.revision_id

// fragment: chosen
{{item_conditions}}
    AND ($as_of IS NULL OR NOT m:Fact OR coalesce(m.valid_from, $unknown_time) <= $as_of AND {{valid_to_then}} > $as_of)

// name: list_oldest
// purpose: a page of items in the order in which they were stored, from behind a position on
// params: namespace, kinds, types, authors, conversation_id, session_id, person_id, domain, tags, agent, path_prefix, occurred_from, occurred_to, unknown_time, as_of, known_at, expired, resembling, after_time (as text: parameters end at microseconds), after_uid, limit
// returns: item, evidence, created_at (as text)
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item)
USING INDEX m:Item(namespace, created_at, uid)
WHERE m.namespace = $namespace AND m.created_at >= datetime($after_time) AND m.uid IS NOT NULL
  // Said with OR, the planner makes two index seeks of it and sorts all that they give.
  AND CASE WHEN m.created_at = datetime($after_time) THEN m.uid > $after_uid ELSE true END
  AND {{chosen}}
WITH m ORDER BY m.namespace, m.created_at, m.uid LIMIT $limit
RETURN {{item_map}} AS item, {{evidence}} AS evidence, toString(m.created_at) AS created_at

// name: list_newest
// purpose: as list_oldest, latest first
// params: namespace, kinds, types, authors, conversation_id, session_id, person_id, domain, tags, agent, path_prefix, occurred_from, occurred_to, unknown_time, as_of, known_at, expired, resembling, before_time, before_uid, limit
// returns: item, evidence, created_at (as text)
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item)
USING INDEX m:Item(namespace, created_at, uid)
WHERE m.namespace = $namespace AND m.created_at <= datetime($before_time) AND m.uid IS NOT NULL
  AND CASE WHEN m.created_at = datetime($before_time) THEN m.uid < $before_uid ELSE true END
  AND {{chosen}}
WITH m ORDER BY m.namespace DESC, m.created_at DESC, m.uid DESC LIMIT $limit
RETURN {{item_map}} AS item, {{evidence}} AS evidence, toString(m.created_at) AS created_at

// name: list_latest
// purpose: like list_newest, by when items happened, or when they were stored if that is unknown
// params: namespace, kinds, types, authors, conversation_id, session_id, person_id, domain, tags, agent, path_prefix, occurred_from, occurred_to, unknown_time, as_of, known_at, expired, resembling, before_time, before_uid, limit
// returns: item, evidence, created_at (when it happened, as text)
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item)
{{through_the_key}} AND {{chosen}}
WITH m, coalesce(m.occurred_at, m.created_at) AS happened
WHERE happened <= datetime($before_time)
  AND CASE WHEN happened = datetime($before_time) THEN m.uid < $before_uid ELSE true END
WITH m, happened ORDER BY happened DESC, m.uid DESC LIMIT $limit
RETURN {{item_map}} AS item, {{evidence}} AS evidence, toString(happened) AS created_at

// name: count_traits
// purpose: how many items of a namespace have each kind, type, author, domain and month, the most frequent values first
// params: namespace, limit (values of each)
// returns: trait, counts (list of [value, items])
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item {namespace: $namespace})
{{through_the_key}}
UNWIND [
  ['kind', m.kind], ['type', m.type], ['author', m.author_name], ['domain', m.domain],
  ['month', left(toString(coalesce(m.occurred_at, m.created_at)), 7)]
] AS pair
WITH pair[0] AS trait, pair[1] AS value, count(*) AS items
WHERE value IS NOT NULL
WITH trait, value, items ORDER BY items DESC, value
RETURN trait, collect([value, items])[..$limit] AS counts

// name: item_names
// purpose: the names of items, for lists that know their uids
// params: namespace, uids
// returns: uid, name
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})
RETURN m.uid AS uid, m.name AS name

// name: around_item
// purpose: the turns before and after a message, and the facts and memories that rest on an item
// params: namespace, uid, limit
// returns: before, after (each [uid, name, author] or null), cited_by (list of [uid, name, kind])
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item {namespace: $namespace, uid: $uid})
RETURN head(COLLECT { MATCH (n:Item {namespace: $namespace})-[:NEXT]->(m) RETURN [n.uid, n.name, n.author_name] }) AS before,
  head(COLLECT { MATCH (m)-[:NEXT]->(n:Item {namespace: $namespace}) RETURN [n.uid, n.name, n.author_name] }) AS after,
  COLLECT {
    MATCH (n:Item {namespace: $namespace})-[:EVIDENCED_BY]->(m)
    RETURN [n.uid, n.name, n.kind] ORDER BY n.kind, n.name, n.uid LIMIT $limit
  } AS cited_by

// name: lock_items
// purpose: lock items in the given order until the transaction ends; later reads see what others have committed
// params: namespace, uids (sorted, so that two writers take locks in one order)
// returns: uid, kind, version
// access: write
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})
// Taking away a label that no item carries locks the node and changes nothing.
REMOVE m:Locked
RETURN m.uid AS uid, m.kind AS kind, coalesce(m.version, 1) AS version
