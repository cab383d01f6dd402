// librarian: kind=schema
//
// What was forgotten, as keyed hashes.
CYPHER 25 CREATE CONSTRAINT tombstone_identity IF NOT EXISTS FOR (n:Tombstone) REQUIRE (n.namespace, n.identity) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT tombstone_mark IF NOT EXISTS FOR (n:TombstoneMark) REQUIRE (n.namespace, n.mark) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT tombstone_salts IF NOT EXISTS FOR (n:TombstoneSalts) REQUIRE n.namespace IS UNIQUE;
CYPHER 25 CREATE RANGE INDEX tombstone_order IF NOT EXISTS FOR (n:Tombstone) ON (n.namespace, n.forgotten_at, n.identity);
