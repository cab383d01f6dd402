// librarian: kind=schema
//
// The order in which items are listed.
CYPHER 25 CREATE RANGE INDEX item_order IF NOT EXISTS FOR (n:Item) ON (n.namespace, n.created_at, n.uid);
