// librarian: kind=schema
//
// The change feed: a log for each namespace, and its changes in the order of their numbers.
CYPHER 25 CREATE CONSTRAINT change_log IF NOT EXISTS FOR (n:ChangeLog) REQUIRE n.namespace IS UNIQUE;
CYPHER 25 CREATE RANGE INDEX change_order IF NOT EXISTS FOR (n:ChangeSet) ON (n.namespace, n.last);
