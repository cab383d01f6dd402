// librarian: kind=schema
//
// Lines of files that facts and memories cite.
CYPHER 25 CREATE CONSTRAINT citation_ref IF NOT EXISTS FOR (n:Citation) REQUIRE (n.namespace, n.uid, n.ref) IS UNIQUE;
CYPHER 25 CREATE RANGE INDEX citation_path IF NOT EXISTS FOR (n:Citation) ON (n.namespace, n.path);
CYPHER 25 CREATE RANGE INDEX citation_state IF NOT EXISTS FOR (n:Citation) ON (n.namespace, n.state);
