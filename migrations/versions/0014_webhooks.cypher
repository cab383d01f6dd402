// librarian: kind=schema
//
// Webhooks: one for each address of a namespace.
CYPHER 25 CREATE CONSTRAINT webhook_id IF NOT EXISTS FOR (n:Webhook) REQUIRE (n.namespace, n.webhook_id) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT webhook_url IF NOT EXISTS FOR (n:Webhook) REQUIRE (n.namespace, n.url) IS UNIQUE;
