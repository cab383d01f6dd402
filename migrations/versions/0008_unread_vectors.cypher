// librarian: kind=data; idempotent=yes
//
// Vectors of Chinese, Japanese and Korean texts that their encoder does not read: they say nothing and take the places of
// others. Their items are looked at again, passage by passage.
CYPHER 25
MATCH (s:EmbeddingSpace)
WHERE s.languages IS NOT NULL AND none(language IN ['ja', 'zh', 'ko'] WHERE language IN s.languages)
MATCH (m:CjkText)-[:HAS_EMBEDDING]->(e:Embedding {space: s.space})
CALL (s, m, e) {
  FOREACH (_ IN CASE WHEN s.active THEN [1] ELSE [] END | SET m:PendingEmbedding)
  DETACH DELETE e
} IN TRANSACTIONS OF 1000 ROWS;
