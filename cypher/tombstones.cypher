// What was forgotten. A tombstone has hashes made with a salt of its namespace, and no text: of the item's uid
// (`identity`), and, as marks, of what it said. Who looks for one computes the hashes with each of the salts.

// name: tombstone_salts
// purpose: the salts of a namespace; no row where nothing was ever forgotten
// params: namespace
// returns: salts (hexadecimal)
// access: read
// scope: namespace
CYPHER 25
MATCH (s:TombstoneSalts {namespace: $namespace})
RETURN s.salts AS salts

// name: make_tombstone_salts
// purpose: the salts of a namespace; the given ones are taken where there are none, and with `always` beside those
// params: namespace, salts, always (boolean)
// returns: salts
// access: write
// scope: namespace
CYPHER 25
MERGE (s:TombstoneSalts {namespace: $namespace})
ON CREATE SET s.salts = $salts, s.created_at = datetime()
SET s.salts = CASE WHEN $always THEN s.salts + [salt IN $salts WHERE NOT salt IN s.salts] ELSE s.salts END
RETURN s.salts AS salts

// name: read_said
// purpose: texts of items, and earlier texts of them and of those merged into them
// params: namespace, uids
// returns: uid, version, said (list of {uid, kind, text, subject, predicate, object, message_id}), lines (of a file: path, start_line, end_line; else null)
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})
RETURN m.uid AS uid, coalesce(m.version, 1) AS version, [m {.uid, .kind, .text, .subject, .predicate, .object, .message_id}] + COLLECT {
    MATCH (m)-[:HAS_REVISION]->(r:Revision {namespace: $namespace})
    RETURN r {.uid, .kind, .text, .subject, .predicate, .object}
  } AS said,
  CASE WHEN m.path IS NOT NULL THEN m {.path, .start_line, .end_line} END AS lines

// name: items_beginning_like
// purpose: items that begin as others do, and may say the same
// params: namespace, beginnings (lower case), chars (how long they are), uids (of items that are left out)
// returns: kind, text, subject, predicate, object
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item {namespace: $namespace})
WHERE m.uid IS NOT NULL AND toLower(left(m.text, $chars)) IN $beginnings AND NOT m.uid IN $uids
RETURN m.kind AS kind, m.text AS text, m.subject AS subject, m.predicate AS predicate, m.object AS object

// name: put_tombstones
// purpose: say that items were forgotten
// params: namespace, rows (identity, kind, marks), actor
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MERGE (t:Tombstone {namespace: $namespace, identity: row.identity})
SET t.name = 'forgotten ' + row.kind, t.kind = row.kind, t.actor = $actor, t.forgotten_at = datetime()
WITH t, row
UNWIND row.marks AS mark
MERGE (n:TombstoneMark {namespace: $namespace, mark: mark})
ON CREATE SET n.name = 'mark'
MERGE (t)-[:HOLDS]->(n)

// name: find_tombstones
// purpose: those of these items that were forgotten, by uid or by text
// params: namespace, rows (uid, identities, marks)
// returns: uid, identities, marks (those that are held)
// access: read
// scope: namespace
CYPHER 25
UNWIND $rows AS row
WITH row,
  COLLECT {
    UNWIND row.identities AS identity
    MATCH (t:Tombstone {namespace: $namespace, identity: identity})
    RETURN t.identity
  } AS identities,
  COLLECT {
    UNWIND row.marks AS mark
    MATCH (n:TombstoneMark {namespace: $namespace, mark: mark})
    RETURN n.mark
  } AS marks
WHERE size(identities) + size(marks) > 0
RETURN row.uid AS uid, identities, marks

// name: tombstones_of_marks
// purpose: which tombstones hold each of these marks; a mark that none holds is left out
// params: namespace, marks, most (tombstones of a mark that are looked at)
// returns: mark, identities
// access: read
// scope: namespace
CYPHER 25
UNWIND $marks AS mark
MATCH (n:TombstoneMark {namespace: $namespace, mark: mark})
RETURN mark, COLLECT {
  MATCH (n)<-[:HOLDS]-(t:Tombstone {namespace: $namespace})
  RETURN t.identity LIMIT $most
} AS identities

// name: mark_resembling
// purpose: set or remove the mark that locked items resemble something forgotten, which names the nearest tombstone
// params: namespace, rows (uid, resembles: identity of a tombstone or null)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (m:Item {namespace: $namespace, uid: row.uid})
WHERE m.resembles IS NOT NULL OR row.resembles IS NOT NULL
SET m.resembles = row.resembles

// name: lift_tombstones
// purpose: let forgotten items come back: delete tombstones with their marks, and single marks
// params: namespace, identities, marks
// returns: lifted (tombstones)
// access: write
// scope: namespace
CYPHER 25
CALL () {
  UNWIND $marks AS mark
  MATCH (n:TombstoneMark {namespace: $namespace, mark: mark})
  DETACH DELETE n
}
CALL () {
  UNWIND $identities AS identity
  MATCH (t:Tombstone {namespace: $namespace, identity: identity})
  CALL (t) {
    MATCH (t)-[:HOLDS]->(n:TombstoneMark {namespace: $namespace})
    DETACH DELETE n
  }
  DETACH DELETE t
  RETURN count(*) AS lifted
}
CALL () {
  MATCH (m:Item {namespace: $namespace})
  {{through_the_key}} AND m.resembles IN $identities
  REMOVE m.resembles
}
RETURN lifted

// name: list_tombstones
// purpose: a page of forgotten items, latest first
// params: namespace, before_time (as text), before_identity, limit
// returns: identity, kind, actor, forgotten_at (as text)
// access: read
// scope: namespace
CYPHER 25
MATCH (t:Tombstone)
WHERE t.namespace = $namespace AND t.forgotten_at <= datetime($before_time) AND t.identity IS NOT NULL
  AND CASE WHEN t.forgotten_at = datetime($before_time) THEN t.identity < $before_identity ELSE true END
RETURN t.identity AS identity, t.kind AS kind, t.actor AS actor, toString(t.forgotten_at) AS forgotten_at
ORDER BY t.forgotten_at DESC, t.identity DESC LIMIT $limit

// name: release_claims
// purpose: take away items that were claimed in this transaction and are not written
// params: namespace, uids
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})
WHERE m.kind IS NULL
DELETE m

// name: delete_empty_groups
// purpose: conversations and people that no item belongs to
// params: namespace
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
MATCH (g:Conversation|Person)
WHERE g.namespace = $namespace AND NOT EXISTS { (g)--(:Item {namespace: $namespace}) }
DETACH DELETE g

// name: blank_outlines
// purpose: delete data derived from lines of files: definitions in them, quotes of citations, and the outlines of the files
// params: namespace, rows (path, start_line, end_line)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
MATCH (f:File {namespace: $namespace, path: row.path})
SET f.outline = ''
WITH f, row
CALL (f, row) {
  MATCH (f)-[:DEFINES]->(s:Symbol {namespace: $namespace})
  WHERE s.line >= row.start_line AND s.line <= row.end_line
  DETACH DELETE s
}
CALL (row) {
  MATCH (n:Citation {namespace: $namespace, path: row.path})
  WHERE n.start_line <= row.end_line AND n.end_line >= row.start_line
  REMOVE n.text
}

// name: delete_answers_naming
// purpose: delete stored responses that name these items and may contain their texts
// params: namespace, uids
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
MATCH (record:IdempotencyRecord)
WHERE record.namespace = $namespace AND record.response IS NOT NULL
  AND any(uid IN $uids WHERE record.response CONTAINS uid)
DELETE record

// name: export_tombstones
// purpose: a page of forgotten items
// params: namespace, after (identity), limit
// returns: identity, properties, marks
// access: read
// scope: namespace
CYPHER 25
MATCH (t:Tombstone {namespace: $namespace})
WHERE t.identity > $after
WITH t ORDER BY t.namespace, t.identity LIMIT $limit
RETURN t.identity AS identity, t {.kind, .actor, .forgotten_at, .name} AS properties,
  COLLECT { MATCH (t)-[:HOLDS]->(n:TombstoneMark {namespace: $namespace}) RETURN n.mark ORDER BY n.mark } AS marks

// name: import_tombstones
// purpose: tombstones that are not there
// params: namespace, rows (identity, properties, marks)
// returns: created
// access: write
// scope: namespace
CYPHER 25
UNWIND $rows AS row
OPTIONAL MATCH (known:Tombstone {namespace: $namespace, identity: row.identity})
WITH row, known IS NULL AS created
MERGE (t:Tombstone {namespace: $namespace, identity: row.identity})
ON CREATE SET t += row.properties
WITH t, row, created
CALL (t, row) {
  UNWIND row.marks AS mark
  MERGE (n:TombstoneMark {namespace: $namespace, mark: mark})
  ON CREATE SET n.name = 'mark'
  MERGE (t)-[:HOLDS]->(n)
}
RETURN sum(CASE WHEN created THEN 1 ELSE 0 END) AS created

// name: namespaces_of_tombstones
// purpose: every namespace in which something was forgotten
// params: none
// returns: namespace
// access: read
// scope: admin
CYPHER 25
MATCH (s:TombstoneSalts)
RETURN s.namespace AS namespace ORDER BY namespace
