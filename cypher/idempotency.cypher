// Answers to requests that may be sent twice. A record belongs to the owner that runs the request until `expires_at`, by
// the server's clock, and holds the response once there is one. Setting asked_at first locks the node, so that what
// follows reads it as committed.

// name: claim_idempotency_key
// purpose: take a key that is new, expired, or already this owner's; otherwise return the request it stands for
// params: namespace, key, owner, request_hash, lease_s
// returns: claimed (boolean), request_hash (of the request it stands for), response (null while that still runs)
// access: write
// scope: namespace
CYPHER 25
MERGE (record:IdempotencyRecord {namespace: $namespace, key: $key})
SET record.asked_at = datetime.realtime()
WITH record,
  record.expires_at IS NULL OR record.expires_at <= datetime.realtime() OR record.owner = $owner AS free
FOREACH (_ IN CASE WHEN free THEN [1] ELSE [] END |
  SET record.owner = $owner,
    record.request_hash = $request_hash,
    record.response = null,
    record.created_at = datetime.realtime(),
    record.expires_at = datetime.realtime() + duration({seconds: $lease_s}))
RETURN free AS claimed, record.request_hash AS request_hash, record.response AS response

// name: renew_idempotency_key
// purpose: put off the expiry of a key whose request still runs
// params: namespace, key, owner, lease_s
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
MATCH (record:IdempotencyRecord {namespace: $namespace, key: $key})
SET record.asked_at = datetime.realtime()
WITH record
WHERE record.owner = $owner AND record.response IS NULL
SET record.expires_at = datetime.realtime() + duration({seconds: $lease_s})

// name: answer_idempotency_key
// purpose: keep the response for a key, if the owner still has it
// params: namespace, key, owner, response, keep_s
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
MATCH (record:IdempotencyRecord {namespace: $namespace, key: $key})
SET record.asked_at = datetime.realtime()
WITH record
WHERE record.owner = $owner
SET record.response = $response,
  record.expires_at = datetime.realtime() + duration({seconds: $keep_s})

// name: release_idempotency_key
// purpose: delete the key of a request without a response, so that it can be sent again at once
// params: namespace, key, owner
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
MATCH (record:IdempotencyRecord {namespace: $namespace, key: $key})
SET record.asked_at = datetime.realtime()
WITH record
WHERE record.owner = $owner AND record.response IS NULL
DELETE record

// name: delete_expired_idempotency_keys
// purpose: remove records of all namespaces that have expired, some at a time
// params: limit
// returns: deleted (how many)
// access: write
// scope: admin
CYPHER 25
MATCH (record:IdempotencyRecord)
WHERE record.expires_at <= datetime.realtime()
WITH record LIMIT $limit
DELETE record
RETURN count(*) AS deleted
