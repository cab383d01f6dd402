// librarian: kind=schema
//
// Files found by name and by words of their paths, exact substrings whatever their case, and definitions by name.
CYPHER 25 CREATE RANGE INDEX file_name IF NOT EXISTS FOR (n:File) ON (n.namespace, n.name_key);
CYPHER 25 CREATE RANGE INDEX file_stem IF NOT EXISTS FOR (n:File) ON (n.namespace, n.stem_key);
CYPHER 25 CREATE FULLTEXT INDEX file_words IF NOT EXISTS FOR (n:File) ON EACH [n.search_text, n.tokens]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'standard-no-stop-words', `fulltext.eventually_consistent`: false}};
CYPHER 25 CREATE RANGE INDEX symbol_key IF NOT EXISTS FOR (n:Symbol) ON (n.namespace, n.key);

// The search text begins with the text itself, case-folded: one trigram index answers both ways of searching.
CYPHER 25 CREATE TEXT INDEX chunk_substrings IF NOT EXISTS FOR (n:FileChunk) ON (n.search_text);
CYPHER 25 DROP INDEX chunk_content IF EXISTS;
