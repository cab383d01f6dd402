// Loose ends
// Items whose evidence is not all there, that wait for a vector, or whose text the encoder refused.
// :param namespace => 'sample'
MATCH (m:UnresolvedReferences|PendingEmbedding|EmbeddingRefused)
WHERE m.namespace = $namespace
RETURN [label IN labels(m) WHERE label IN ['UnresolvedReferences', 'PendingEmbedding', 'EmbeddingRefused']] AS because,
  m.kind AS kind, m.name AS name, m.uid AS uid LIMIT 100
