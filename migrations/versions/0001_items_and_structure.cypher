// librarian: kind=schema
//
// Everything the data model is found by, except the vector indexes: an embedding space makes its own.
// The constraints of Migration and Lock are made before the first migration can be recorded (cypher/migrations.cypher).

// Keys. MERGE without a uniqueness constraint makes duplicates when two writers meet.
CYPHER 25 CREATE CONSTRAINT item_uid IF NOT EXISTS FOR (n:Item) REQUIRE (n.namespace, n.uid) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT file_path IF NOT EXISTS FOR (n:File) REQUIRE (n.namespace, n.path) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT person_id IF NOT EXISTS FOR (n:Person) REQUIRE (n.namespace, n.person_id) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT conversation_id IF NOT EXISTS FOR (n:Conversation) REQUIRE (n.namespace, n.conversation_id) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT revision_id IF NOT EXISTS FOR (n:Revision) REQUIRE (n.namespace, n.revision_id) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT sweep_run_id IF NOT EXISTS FOR (n:SweepRun) REQUIRE (n.namespace, n.sweep_id) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT idempotency_key IF NOT EXISTS FOR (n:IdempotencyRecord) REQUIRE (n.namespace, n.key) IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT embedding_space_id IF NOT EXISTS FOR (n:EmbeddingSpace) REQUIRE n.space IS UNIQUE;

// Typed edges are found by their id when one is reviewed or undone.
CYPHER 25 CREATE CONSTRAINT causes_edge_id IF NOT EXISTS FOR ()-[r:CAUSES]-() REQUIRE r.edge_id IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT blocks_edge_id IF NOT EXISTS FOR ()-[r:BLOCKS]-() REQUIRE r.edge_id IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT enables_edge_id IF NOT EXISTS FOR ()-[r:ENABLES]-() REQUIRE r.edge_id IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT relates_to_edge_id IF NOT EXISTS FOR ()-[r:RELATES_TO]-() REQUIRE r.edge_id IS UNIQUE;
CYPHER 25 CREATE CONSTRAINT proposed_edge_id IF NOT EXISTS FOR ()-[r:PROPOSED]-() REQUIRE r.edge_id IS UNIQUE;

// Look-ups and orders.
CYPHER 25 CREATE RANGE INDEX message_order IF NOT EXISTS FOR (n:Message) ON (n.namespace, n.conversation_id, n.sent_at, n.position, n.uid);
CYPHER 25 CREATE RANGE INDEX message_id IF NOT EXISTS FOR (n:Message) ON (n.namespace, n.message_id);
CYPHER 25 CREATE RANGE INDEX item_kind_time IF NOT EXISTS FOR (n:Item) ON (n.namespace, n.kind, n.occurred_at);
CYPHER 25 CREATE RANGE INDEX fact_key IF NOT EXISTS FOR (n:Fact) ON (n.namespace, n.person_id, n.fact_type, n.relationship_type);
CYPHER 25 CREATE RANGE INDEX chunk_lines IF NOT EXISTS FOR (n:FileChunk) ON (n.namespace, n.path, n.start_line);
CYPHER 25 CREATE RANGE INDEX memory_type IF NOT EXISTS FOR (n:Memory) ON (n.namespace, n.type);

// Exact substrings of files, as grep finds them.
CYPHER 25 CREATE TEXT INDEX chunk_content IF NOT EXISTS FOR (n:FileChunk) ON (n.text);

// Words. `tokens` keeps a search inside its namespace and kind; stemming would hurt code, so files have an index of their own.
CYPHER 25 CREATE FULLTEXT INDEX item_text IF NOT EXISTS FOR (n:Memory|Fact|Message) ON EACH [n.search_text, n.tokens]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english', `fulltext.eventually_consistent`: false}};
CYPHER 25 CREATE FULLTEXT INDEX item_text_cjk IF NOT EXISTS FOR (n:CjkText) ON EACH [n.search_text, n.tokens]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'cjk', `fulltext.eventually_consistent`: false}};
CYPHER 25 CREATE FULLTEXT INDEX chunk_text IF NOT EXISTS FOR (n:FileChunk) ON EACH [n.search_text, n.tokens]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'standard-no-stop-words', `fulltext.eventually_consistent`: false}};
