// Webhooks: where the changes of a namespace are sent, and how far that has come. A webhook holds no secret: that is derived
// from one that lies outside the graph.

// fragment: webhook
w {.webhook_id, .url, .kinds, .state, .seq, .tag, .up_to, .failures, .failing_since, .next_at, .last_status, .last_error,
  .created_at, .delivered_at}

// name: put_webhook
// purpose: register a webhook for changes after a position in the feed, unless its address has one
// params: namespace, webhook_id, url, kinds, seq, tag
// returns: webhook (of another id where the address has one)
// access: write
// scope: namespace
CYPHER 25
MERGE (w:Webhook {namespace: $namespace, url: $url})
ON CREATE SET w.webhook_id = $webhook_id, w.kinds = $kinds, w.state = 'active', w.seq = $seq, w.tag = $tag, w.failures = 0,
  w.created_at = datetime.realtime(), w.next_at = datetime.realtime()
RETURN {{webhook}} AS webhook

// name: list_webhooks
// purpose: the webhooks of a namespace, the oldest first
// params: namespace
// returns: webhook
// access: read
// scope: namespace
CYPHER 25
MATCH (w:Webhook)
WHERE w.namespace = $namespace AND w.webhook_id IS NOT NULL
RETURN {{webhook}} AS webhook ORDER BY w.created_at, w.webhook_id

// name: delete_webhook
// purpose: remove one webhook
// params: namespace, webhook_id
// returns: webhook (as it was)
// access: write
// scope: namespace
CYPHER 25
MATCH (w:Webhook {namespace: $namespace, webhook_id: $webhook_id})
WITH w, {{webhook}} AS webhook
DELETE w
RETURN webhook

// name: due_webhooks
// purpose: webhooks of all namespaces that have something to send now, for the owner of a lock
// params: lock, owner (null: whoever asks), limit
// returns: namespace, webhook
// access: read
// scope: admin
CYPHER 25
MATCH (w:Webhook)
WHERE w.state = 'active' AND w.next_at <= datetime.realtime()
  AND ($owner IS NULL OR EXISTS { (:Lock {name: $lock, owner: $owner}) })
MATCH (log:ChangeLog {namespace: w.namespace})
WHERE log.seq > w.seq
RETURN w.namespace AS namespace, {{webhook}} AS webhook ORDER BY w.next_at LIMIT $limit

// name: paused_webhooks
// purpose: the webhooks of all namespaces that were paused, as their receivers took nothing
// params: none
// returns: namespace, webhook_id, error
// access: read
// scope: admin
CYPHER 25
MATCH (w:Webhook)
WHERE w.state = 'paused'
RETURN w.namespace AS namespace, w.webhook_id AS webhook_id, w.last_error AS error ORDER BY namespace, webhook_id

// name: bound_delivery
// purpose: record the end of the next delivery, so that a repetition sends the same
// params: namespace, webhook_id, seq, up_to
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
MATCH (w:Webhook {namespace: $namespace, webhook_id: $webhook_id})
SET w.asked_at = datetime.realtime()
WITH w
WHERE w.seq = $seq
SET w.up_to = $up_to

// name: advance_webhook
// purpose: a delivery was taken: go on behind it, unless somebody has gone on already
// params: namespace, webhook_id, from_seq, seq, tag, status (null: nothing had to be sent)
// returns: nothing
// access: write
// scope: namespace
CYPHER 25
MATCH (w:Webhook {namespace: $namespace, webhook_id: $webhook_id})
SET w.asked_at = datetime.realtime()
WITH w
WHERE w.seq = $from_seq
SET w.seq = $seq, w.tag = $tag, w.up_to = CASE WHEN $seq = $from_seq THEN w.up_to END, w.state = 'active', w.failures = 0,
  w.failing_since = null, w.last_error = null, w.next_at = datetime.realtime(),
  w.last_status = coalesce($status, w.last_status),
  w.delivered_at = CASE WHEN $status IS NULL THEN w.delivered_at ELSE datetime.realtime() END

// name: delay_webhook
// purpose: a delivery was not taken: try again after a while, or pause where that has gone on for too long
// params: namespace, webhook_id, from_seq, status, error, wait_s, give_up_s (0: at once)
// returns: state
// access: write
// scope: namespace
CYPHER 25
MATCH (w:Webhook {namespace: $namespace, webhook_id: $webhook_id})
SET w.asked_at = datetime.realtime()
WITH w
WHERE w.seq = $from_seq
SET w.failing_since = coalesce(w.failing_since, datetime.realtime())
SET w.failures = w.failures + 1, w.last_status = $status, w.last_error = $error,
  w.next_at = datetime.realtime() + duration({milliseconds: toInteger(1000 * $wait_s)}),
  w.state = CASE WHEN datetime.realtime() >= w.failing_since + duration({seconds: $give_up_s}) THEN 'paused' ELSE 'active' END
RETURN w.state AS state
