// librarian: kind=schema; idempotent=yes
//
// Items by when they expire.
CYPHER 25 CREATE RANGE INDEX item_expiry IF NOT EXISTS FOR (n:Item) ON (n.namespace, n.expires_at);
