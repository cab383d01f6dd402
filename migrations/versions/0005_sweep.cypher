// librarian: kind=schema
//
// What a run of the sweep changed, in its order.
CYPHER 25 CREATE RANGE INDEX sweep_change IF NOT EXISTS FOR ()-[c:CHANGED]-() ON (c.namespace, c.sweep_id, c.seq);
