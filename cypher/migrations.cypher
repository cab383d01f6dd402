// The migrator's own statements. Its lock and its records stand in the graph; the server's clock decides what has expired.

// name: create_migration_constraint
// purpose: one record a version; made before the first migration can be recorded
// params: none
// returns: nothing
// access: schema
// scope: admin
CYPHER 25
CREATE CONSTRAINT migration_version IF NOT EXISTS FOR (n:Migration) REQUIRE n.version IS UNIQUE

// name: create_lock_constraint
// purpose: one lock a name; made before the first lock is taken
// params: none
// returns: nothing
// access: schema
// scope: admin
CYPHER 25
CREATE CONSTRAINT lock_name IF NOT EXISTS FOR (n:Lock) REQUIRE n.name IS UNIQUE

// name: take_lock
// purpose: take a free or expired lock; setting asked_at first locks the node, so that owner is read as committed
// params: name, owner, ttl_s
// returns: taken (boolean), owner (who has it now), expires_at
// access: write
// scope: admin
CYPHER 25
MERGE (lock:Lock {name: $name})
SET lock.asked_at = datetime.realtime()
WITH lock, lock.owner IS NULL OR lock.expires_at < datetime.realtime() AS free
SET lock.owner = CASE WHEN free THEN $owner ELSE lock.owner END,
  lock.expires_at = CASE WHEN free THEN datetime.realtime() + duration({seconds: $ttl_s}) ELSE lock.expires_at END
RETURN free AS taken, lock.owner AS owner, lock.expires_at AS expires_at

// name: renew_lock
// purpose: put off the expiry of a lock that its owner still has
// params: name, owner, ttl_s
// returns: one row if the owner still had it
// access: write
// scope: admin
CYPHER 25
MATCH (lock:Lock {name: $name})
SET lock.asked_at = datetime.realtime()
WITH lock
WHERE lock.owner = $owner
SET lock.expires_at = datetime.realtime() + duration({seconds: $ttl_s})
RETURN lock.expires_at AS expires_at

// name: release_lock
// purpose: free a lock, by its owner only
// params: name, owner
// returns: nothing
// access: write
// scope: admin
CYPHER 25
MATCH (lock:Lock {name: $name})
SET lock.asked_at = datetime.realtime()
WITH lock
WHERE lock.owner = $owner
REMOVE lock.owner, lock.expires_at

// name: list_migrations
// purpose: the records of this database's migrations
// params: none
// returns: version, name, kind, checksum, status, finished_at
// access: read
// scope: admin
CYPHER 25
MATCH (m:Migration)
RETURN m.version AS version, m.name AS name, m.kind AS kind, m.checksum AS checksum, m.status AS status,
  m.finished_at AS finished_at
ORDER BY version

// name: begin_migration
// purpose: record that a migration runs, only while the lock is ours
// params: lock, owner, version, name, kind, checksum, by, app_version
// returns: one row if the lock was still ours
// access: write
// scope: admin
CYPHER 25
MATCH (lock:Lock {name: $lock})
SET lock.asked_at = datetime.realtime()
WITH lock
WHERE lock.owner = $owner
CALL dbms.components() YIELD name AS component, versions
WITH versions
WHERE component = 'Neo4j Kernel'
MERGE (m:Migration {version: $version})
SET m.name = $name, m.kind = $kind, m.checksum = $checksum, m.status = 'running', m.by = $by, m.app_version = $app_version,
  m.server_version = versions[0], m.started_at = datetime.realtime(), m.finished_at = null
RETURN m.version AS version

// name: finish_migration
// purpose: record that a migration is applied, only while the lock is ours
// params: lock, owner, version, checksum
// returns: one row if the lock was still ours
// access: write
// scope: admin
CYPHER 25
MATCH (lock:Lock {name: $lock})
SET lock.asked_at = datetime.realtime()
WITH lock
WHERE lock.owner = $owner
MATCH (m:Migration {version: $version})
SET m.checksum = $checksum, m.status = 'applied', m.finished_at = datetime.realtime()
RETURN m.version AS version

// name: show_constraints
// purpose: the constraints that exist
// params: none
// returns: name, type, labels, properties
// access: read
// scope: admin
CYPHER 25
SHOW CONSTRAINTS YIELD name, type, labelsOrTypes, properties
RETURN name, type, labelsOrTypes AS labels, properties

// name: show_indexes
// purpose: the indexes that exist, those of constraints included
// params: none
// returns: name, type, labels, properties, options, state, failure
// access: read
// scope: admin
CYPHER 25
SHOW INDEXES YIELD name, type, labelsOrTypes, properties, options, state, failureMessage
RETURN name, type, labelsOrTypes AS labels, properties, options, state, failureMessage AS failure
