// librarian: kind=schema
//
// Who has spoken in a namespace: a query that names one of them prefers what that one said.
CYPHER 25 CREATE RANGE INDEX message_author IF NOT EXISTS FOR (n:Message) ON (n.namespace, n.author_name);
