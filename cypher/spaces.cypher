// name: create_space_index
// purpose: the vector index of one embedding space; scalar quantization is written out since the server's default changed
// params: none
// returns: nothing
// access: schema
// scope: admin
// template: space, dimension
CYPHER 25
CREATE VECTOR INDEX embedding_{{space}} IF NOT EXISTS
FOR (e:Embedding_{{space}}) ON (e.vector)
WITH [e.namespace, e.kind, e.author, e.conversation, e.domain, e.occurred_at, e.valid_to]
OPTIONS {indexConfig: {
  `vector.dimensions`: {{dimension}}, `vector.similarity_function`: 'cosine', `vector.quantization.type`: 'scalar',
  `vector.hnsw.m`: 16, `vector.hnsw.ef_construction`: 100}}

// name: drop_space_index
// purpose: drop the vector index of one space before it is built anew
// params: none
// returns: nothing
// access: schema
// scope: admin
// template: space
CYPHER 25
DROP INDEX embedding_{{space}} IF EXISTS

// name: space_index_state
// purpose: state and fill of a space's index
// params: index
// returns: state, percent
// access: read
// scope: admin
SHOW VECTOR INDEXES YIELD name, state, populationPercent WHERE name = $index
RETURN state, populationPercent AS percent

// name: put_space
// purpose: record an embedding space; the first one becomes active
// params: space, model, dimension, text_form, normalised, revision
// returns: properties (of the space)
// access: write
// scope: admin
CYPHER 25
// The lock makes one of many first spaces the first.
MERGE (lock:Lock {name: 'embedding_spaces'})
SET lock.asked_at = datetime()
WITH lock
OPTIONAL MATCH (other:EmbeddingSpace) WHERE other.active
WITH count(other) = 0 AS first
MERGE (s:EmbeddingSpace {space: $space})
ON CREATE SET s.name = $model, s.model = $model, s.dimension = $dimension, s.text_form = $text_form,
  s.normalised = $normalised, s.revision = $revision, s.created_at = datetime(), s.active = first
RETURN properties(s) AS properties

// name: put_space_languages
// purpose: record the languages that a space's encoder was found to distinguish
// params: space, languages
// returns: nothing
// access: write
// scope: admin
CYPHER 25
MATCH (s:EmbeddingSpace {space: $space})
SET s.languages = $languages

// name: sample_noise
// purpose: how similar queries about nothing are to random vectors of one space, of items with CJK letters or without
// params: queries (list of vectors of the space's dimension), cjk, share (0..1 of the vectors to draw the sample from), limit (vectors)
// returns: sampled (vectors), mean, deviation (of all cosines, -1..1; null without a vector)
// access: read
// scope: admin
// template: space, dimension
CYPHER 25
MATCH (e:Embedding_{{space}})
// Drawn before the items are looked at: a scan of a million labels is cheap, a million steps to items are not. In a
// WHERE the planner may draw among the items instead.
WITH e, rand() AS draw
WHERE draw < $share
MATCH (m:Item)-[:HAS_EMBEDDING]->(e)
WHERE m:CjkText = $cjk
WITH DISTINCT e
ORDER BY rand() LIMIT $limit
// One vector of another length would fail the whole statement.
WHERE size(e.vector) = {{dimension}}
UNWIND $queries AS query
WITH e, 2 * vector.similarity.cosine(e.vector, query) - 1 AS cosine
RETURN count(DISTINCT e) AS sampled, avg(cosine) AS mean, stDevP(cosine) AS deviation

// name: put_calibrations
// purpose: replace the recorded noise of a space by language
// params: space, languages, means, deviations, samples (lists in the order of the languages), vectors, version
// returns: properties (of the space)
// access: write
// scope: admin
CYPHER 25
MATCH (s:EmbeddingSpace {space: $space})
SET s.calibration_languages = $languages, s.calibration_means = $means, s.calibration_deviations = $deviations,
  s.calibration_samples = $samples, s.calibration_vectors = $vectors, s.calibration_version = $version,
  s.calibrated_at = datetime()
RETURN properties(s) AS properties

// name: activate_space
// purpose: make one space the active one, and note when the one before was left
// params: space
// returns: nothing
// access: write
// scope: admin
CYPHER 25
// The lock keeps two switches apart.
MERGE (lock:Lock {name: 'embedding_spaces'})
SET lock.asked_at = datetime()
WITH lock
MATCH (s:EmbeddingSpace)
SET s.left_at = CASE WHEN s.active AND s.space <> $space THEN datetime() ELSE s.left_at END
SET s.active = s.space = $space

// name: list_spaces
// purpose: all embedding spaces
// params: none
// returns: properties (of a space)
// access: read
// scope: admin
CYPHER 25
MATCH (s:EmbeddingSpace)
RETURN properties(s) AS properties
ORDER BY s.created_at, s.space

// name: count_vectors
// purpose: vectors stored in one space
// params: none
// returns: vectors
// access: read
// scope: admin
// template: space
CYPHER 25
MATCH (e:Embedding_{{space}})
RETURN count(e) AS vectors

// name: count_pending
// purpose: items of all namespaces that still lack a vector in the active space
// params: none
// returns: pending
// access: read
// scope: admin
CYPHER 25
MATCH (m:PendingEmbedding)
RETURN count(m) AS pending

// name: next_pending
// purpose: some items that lack a vector in the active space, with the fields an encoder reads
// params: space (nothing is pending for one that is not the active one), limit
// returns: namespace, uid, kind, text, caption, author_name, version
// access: read
// scope: admin
CYPHER 25
MATCH (s:EmbeddingSpace {space: $space})
WHERE s.active
MATCH (m:PendingEmbedding)
RETURN m.namespace AS namespace, m.uid AS uid, m.kind AS kind, m.text AS text, m.caption AS caption,
  m.author_name AS author_name, coalesce(m.version, 1) AS version
LIMIT $limit

// fragment: refused_here
EXISTS { (m)-[r:REFUSED_BY]->(:EmbeddingSpace {space: $space}) WHERE r.version = coalesce(m.version, 1) }

// fragment: lacks_vector
NOT EXISTS { (m)-[:HAS_EMBEDDING]->(:Embedding_{{space}}) } AND NOT {{refused_here}}

// name: measure_without_vector
// purpose: how much there is to encode until a space holds everything
// params: space
// returns: items, characters
// access: read
// scope: admin
// template: space
CYPHER 25
MATCH (m:Item)
WHERE {{lacks_vector}}
RETURN count(m) AS items, coalesce(sum(size(m.text)), 0) AS characters

// name: next_without_vector
// purpose: some items without a vector in a space that is being built beside the active one
// params: space, limit
// returns: namespace, uid, kind, text, caption, author_name, version
// access: read
// scope: admin
// template: space
CYPHER 25
MATCH (m:Item)
WHERE {{lacks_vector}}
RETURN m.namespace AS namespace, m.uid AS uid, m.kind AS kind, m.text AS text, m.caption AS caption,
  m.author_name AS author_name, coalesce(m.version, 1) AS version
LIMIT $limit

// name: mark_pending
// purpose: after a switch, items without a vector in the active space become pending unless its encoder refused them
// params: space
// returns: pending (items)
// access: write
// scope: admin
// template: space
CYPHER 25
MATCH (m:Item)
WITH m, {{lacks_vector}} AS lacks, {{refused_here}} AS refused
FOREACH (_ IN CASE WHEN lacks AND NOT m:PendingEmbedding THEN [1] ELSE [] END | SET m:PendingEmbedding)
FOREACH (_ IN CASE WHEN NOT lacks AND m:PendingEmbedding THEN [1] ELSE [] END | REMOVE m:PendingEmbedding)
FOREACH (_ IN CASE WHEN refused AND NOT m:EmbeddingRefused THEN [1] ELSE [] END | SET m:EmbeddingRefused)
FOREACH (_ IN CASE WHEN NOT refused AND m:EmbeddingRefused THEN [1] ELSE [] END | REMOVE m:EmbeddingRefused)
RETURN sum(CASE WHEN lacks THEN 1 ELSE 0 END) AS pending

// name: put_embeddings
// purpose: replace the vectors of items in one space, unless an item changed meanwhile
// params: space, unknown_time, forever, rows (namespace, uid, version, passages: list of {ordinal, vector})
// returns: stored (items)
// access: write
// scope: admin
// template: space
CYPHER 25
UNWIND $rows AS row
MATCH (m:Item {namespace: row.namespace, uid: row.uid})
// Locked first: whoever changes the item at the same time comes before the comparison or after the vectors.
REMOVE m:Locked
WITH m, row
WHERE coalesce(m.version, 1) = row.version
FOREACH (_ IN CASE WHEN EXISTS { (s:EmbeddingSpace {space: $space}) WHERE s.active } THEN [1] ELSE [] END |
  REMOVE m:PendingEmbedding)
WITH m, row
CALL (m) {
  MATCH (m)-[:HAS_EMBEDDING]->(old:Embedding_{{space}})
  DETACH DELETE old
}
CALL (m, row) {
  UNWIND row.passages AS passage
  CREATE (m)-[:HAS_EMBEDDING]->(e:Embedding:Embedding_{{space}} {
    namespace: m.namespace, uid: m.uid, name: 'vector', kind: m.kind, space: $space, role: 'passage', ordinal: passage.ordinal,
    author: coalesce(m.author_name, ''), conversation: coalesce(m.conversation_id, ''), domain: coalesce(m.domain, ''),
    occurred_at: coalesce(m.occurred_at, $unknown_time), valid_to: coalesce(m.valid_to, $forever)})
  WITH e, passage
  CALL db.create.setNodeVectorProperty(e, 'vector', passage.vector)
}
RETURN count(m) AS stored

// name: refuse_vectors
// purpose: the encoder of one space does not take these versions of items; where that space is the active one, they stop being pending
// params: space, rows (namespace, uid, version, language: that of the text where the encoder does not read it, else null)
// returns: nothing
// access: write
// scope: admin
CYPHER 25
MATCH (s:EmbeddingSpace {space: $space})
UNWIND $rows AS row
MATCH (m:Item {namespace: row.namespace, uid: row.uid})
// Locked first, as when vectors are stored.
REMOVE m:Locked
WITH s, m, row
WHERE coalesce(m.version, 1) = row.version
MERGE (m)-[r:REFUSED_BY]->(s)
SET r.version = row.version, r.language = row.language
WITH s, m
WHERE s.active
REMOVE m:PendingEmbedding
SET m:EmbeddingRefused

// name: count_refused
// purpose: items that the encoder of one space did not take, by the language of those that it does not read
// params: space
// returns: language (null: refused for another reason), items
// access: read
// scope: admin
CYPHER 25
MATCH (s:EmbeddingSpace {space: $space})<-[r:REFUSED_BY]-(m:Item)
WHERE r.version = coalesce(m.version, 1) OR (s.active AND m:EmbeddingRefused)
RETURN r.language AS language, count(*) AS items
ORDER BY items DESC, language

// name: drop_vectors
// purpose: delete some vectors of a space that nobody searches
// params: space, limit
// returns: deleted
// access: write
// scope: admin
// template: space
CYPHER 25
MATCH (s:EmbeddingSpace {space: $space})
WHERE NOT s.active
MATCH (e:Embedding_{{space}})
WITH e LIMIT $limit
DETACH DELETE e
RETURN count(*) AS deleted

// name: forget_space
// purpose: delete the record of a space that is not the active one
// params: space
// returns: deleted
// access: write
// scope: admin
CYPHER 25
MATCH (s:EmbeddingSpace {space: $space})
WHERE NOT s.active
DETACH DELETE s
RETURN count(*) AS deleted

// name: ping
// purpose: one round trip
// params: none
// returns: alive
// access: read
// scope: admin
CYPHER 25
RETURN 1 AS alive

// name: probe_server
// purpose: planned, never run: a server that reads it complains of the missing index, an older one of the syntax
// params: none
// returns: found
// access: read
// scope: admin
CYPHER 25
MATCH (n:EmbeddingSpace)
  SEARCH n IN (VECTOR INDEX no_such_index FOR [1.0] WHERE n.namespace = 'none' AND n.kind IN ['none'] LIMIT 1) SCORE AS score
RETURN n AS found
UNION ALL
MATCH (n:EmbeddingSpace)
  SEARCH n IN (FULLTEXT INDEX no_such_index FOR 'none' LIMIT 1) SCORE AS score
RETURN n AS found
