// The change feed. What a transaction changes is one ChangeSet; the ChangeLog of the namespace holds the number of the last
// change. Whoever takes a number locks the log until the commit, so that the order of the numbers is that of the commits, and
// whoever reads a number finds all that are lower.

// name: record_changes
// purpose: give the changes of a transaction their numbers, as its last statement
// params: namespace, changes (JSON texts)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
MERGE (log:ChangeLog {namespace: $namespace})
ON CREATE SET log.name = 'change log', log.seq = 0
// Setting it locks the log, so that what follows reads it as committed.
SET log.asked_at = datetime.realtime()
WITH log
SET log.seq = log.seq + size($changes), log.tag = left(randomUUID(), 8)
CREATE (:ChangeSet {namespace: $namespace, name: 'changes', first: log.seq - size($changes) + 1, last: log.seq,
  tag: log.tag, at: datetime.realtime(), changes: $changes})

// name: take_relinked
// purpose: the facts that were superseded in this transaction by others, or hold again
// params: namespace
// returns: uid, superseded
// access: write
// scope: namespace
CYPHER 25
MATCH (m:Relinked {namespace: $namespace})
REMOVE m:Relinked
RETURN m.uid AS uid, EXISTS { (:Fact {namespace: $namespace})-[:SUPERSEDES]->(m) } AS superseded ORDER BY uid

// name: read_change_log
// purpose: the number of the last change of a namespace; no row where nothing was ever changed
// params: namespace
// returns: seq, tag
// access: read
// scope: namespace
CYPHER 25
MATCH (log:ChangeLog {namespace: $namespace})
RETURN log.seq AS seq, log.tag AS tag

// name: find_change_set
// purpose: the changes of the transaction that made change `seq`, or of the first later one that is still kept
// params: namespace, seq
// returns: first, tag
// access: read
// scope: namespace
CYPHER 25
MATCH (s:ChangeSet)
WHERE s.namespace = $namespace AND s.last >= $seq
RETURN s.first AS first, s.tag AS tag ORDER BY s.namespace, s.last LIMIT 1

// name: read_change_sets
// purpose: changes after one number and up to another
// params: namespace, after, up_to, limit (transactions)
// returns: first, last, tag, at, changes (JSON texts)
// access: read
// scope: namespace
CYPHER 25
MATCH (s:ChangeSet)
WHERE s.namespace = $namespace AND s.last > $after AND s.last <= $up_to
RETURN s.first AS first, s.last AS last, s.tag AS tag, s.at AS at, s.changes AS changes
ORDER BY s.namespace, s.last LIMIT $limit

// name: delete_old_changes
// purpose: forget changes of all namespaces that are older than some hours, some at a time; the last one of each stays
// params: hours, limit (transactions of a namespace)
// returns: deleted (transactions)
// access: write
// scope: admin
CYPHER 25
MATCH (log:ChangeLog)
CALL (log) {
  MATCH (s:ChangeSet)
  WHERE s.namespace = log.namespace AND s.last < log.seq
  WITH s ORDER BY s.namespace, s.last LIMIT $limit
  WHERE s.at < datetime.realtime() - duration({hours: $hours})
  DELETE s
  RETURN count(*) AS gone
}
RETURN sum(gone) AS deleted
