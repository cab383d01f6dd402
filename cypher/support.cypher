// What facts and memories rest on. An item rests on what it cites; it is unsupported from the moment on at which the last of
// that ceased to stand. graph/support.py says how that follows from these rows.

// name: take_unsettled
// purpose: take the items whose support, end or text has changed since the items that rest on them were last judged
// params: namespace
// returns: uid
// access: write
// scope: namespace
CYPHER 25
MATCH (m:Unsettled {namespace: $namespace})
REMOVE m:Unsettled
RETURN m.uid AS uid ORDER BY uid

// name: citers_of
// purpose: the facts and memories that cite items
// params: namespace, uids
// returns: uid
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})<-[link:EVIDENCED_BY]-(citer:Item {namespace: $namespace})
WHERE link.ref IS NULL
RETURN DISTINCT citer.uid AS uid

// name: read_support
// purpose: sources of facts and memories, when each ceased to stand by itself, and their last judgement; a superseded item supports the one that supersedes it, whatever becomes of it
// params: namespace, uids, forever
// returns: uid, kind, name, valid_to, lost (references to what was forgotten), lost_at, lines (whether cited lines of files stand), ends, because, way, sources (list of {uid, valid_to, superseded_at, ends, because, way, text, said: list of [text, reason, when it was changed]})
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})
WHERE m:Fact OR m:Memory
RETURN m.uid AS uid, m.kind AS kind, m.name AS name, m.valid_to AS valid_to,
  [ref IN coalesce(m.lost_refs, []) WHERE ref IN m.evidence_refs AND NOT EXISTS {
    (m)-[:EVIDENCED_BY]->(back:Item {namespace: $namespace}) WHERE back.uid = ref OR back.message_id = ref
  }] AS lost,
  m.lost_at AS lost_at,
  EXISTS { (m)-[:CITES]->(cited:Citation {namespace: $namespace}) WHERE cited.state = 'current' } AS lines,
  m.support_ends AS ends, m.support_lost AS because, m.support_way AS way,
  COLLECT {
    MATCH (m)-[link:EVIDENCED_BY]->(source:Item {namespace: $namespace})
    WHERE link.ref IS NULL AND NOT EXISTS { (m)-[:SUPERSEDES]->(source) }
    RETURN {
      uid: source.uid, valid_to: CASE WHEN source.valid_to < $forever THEN source.valid_to END,
      superseded_at: head(COLLECT {
        MATCH (newer:Fact {namespace: $namespace})-[:SUPERSEDES]->(source)
        RETURN newer.created_at ORDER BY newer.created_at LIMIT 1
      }),
      ends: source.support_ends, because: source.support_lost, way: source.support_way,
      text: CASE WHEN source:Fact OR source:Memory THEN source.text END,
      said: COLLECT {
        MATCH (source)-[:HAS_REVISION]->(r:Revision {namespace: $namespace})
        WHERE CASE WHEN link.version IS NULL THEN r.revised_at > m.created_at ELSE r.version >= link.version END
        RETURN [r.text, r.reason, r.revised_at] ORDER BY r.version, r.revised_at
      }
    } ORDER BY source.uid
  } AS sources

// name: miss_forgotten
// purpose: record the loss for facts and memories that cite forgotten, missing items, unless it is already recorded
// params: namespace, uids, refs (to what was forgotten)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})
WITH m, [ref IN coalesce(m.evidence_refs, []) WHERE ref IN $refs AND NOT EXISTS {
  (m)-[:EVIDENCED_BY]->(back:Item {namespace: $namespace}) WHERE back.uid = ref OR back.message_id = ref
}] AS gone
WHERE size(gone) > 0
SET m:Unsettled, m.lost_refs = gone, m.lost_at = datetime()

// name: put_support
// purpose: how facts and memories were judged; null where something supports them, or they cite nothing
// params: namespace, rows (uid, ends, because, way, lost)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (m:Item {namespace: $namespace, uid: row.uid})
SET m.support_ends = row.ends, m.support_lost = row.because, m.support_way = row.way, m.lost_refs = row.lost

// name: mark_stated
// purpose: mark the messages of unsettled facts, and unsettled messages: one whose facts were all superseded names the fact that holds instead
// params: namespace, uids, forever
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})
CALL (m) {
  MATCH (m)
  WHERE m:Message
  RETURN m AS message
  UNION
  MATCH (m)-[:SUPERSEDES*0..20]->(older:Fact {namespace: $namespace})-[:EVIDENCED_BY]->(message:Message {namespace: $namespace})
  RETURN message
}
WITH DISTINCT message
CALL (message) {
  MATCH (f:Fact {namespace: $namespace})-[:EVIDENCED_BY]->(message)
  WITH f, head(COLLECT {
    MATCH (newer:Fact {namespace: $namespace})-[:SUPERSEDES*1..20]->(f)
    WHERE NOT EXISTS { (:Fact {namespace: $namespace})-[:SUPERSEDES]->(newer) }
    RETURN [newer.uid, CASE WHEN f.valid_to < $forever THEN f.valid_to ELSE newer.created_at END]
    ORDER BY newer.created_at DESC, newer.uid LIMIT 1
  }) AS newer
  WITH newer ORDER BY newer[1] DESC
  WITH count(*) AS facts, collect(newer) AS replaced
  RETURN CASE WHEN facts = size(replaced) THEN replaced[0] END AS last
}
WITH message, last
WHERE coalesce(message.replaced_by, '') <> coalesce(last[0], '') OR coalesce(message.replaced_at, $forever) <> coalesce(last[1], $forever)
SET message.replaced_by = last[0], message.replaced_at = last[1]

// name: names_of_impact
// purpose: items by uid, and items they lead to by accepted edges
// params: namespace, uids, limit
// returns: leads_to (list of [uid, kind, name, edge type, from uid])
// access: read
// scope: namespace
CYPHER 25
RETURN COLLECT {
  UNWIND $uids AS uid
  MATCH (m:Item {namespace: $namespace, uid: uid})-[r:CAUSES|BLOCKS|ENABLES]->(other:Item {namespace: $namespace})
  WHERE r.edge_id IS NOT NULL AND NOT other.uid IN $uids
  RETURN [other.uid, other.kind, other.name, type(r), m.uid] ORDER BY other.uid, m.uid LIMIT $limit
} AS leads_to
