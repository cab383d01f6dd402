// name: item_standing
// purpose: properties that decide, besides filters, whether a search can find one item
// params: namespace, uid
// returns: superseded_by (uids), pending, refused, unread (language that the encoder of the active space does not read, or null)
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item {namespace: $namespace, uid: $uid})
RETURN COLLECT {
    MATCH (newer:Fact)-[:SUPERSEDES]->(m) WHERE newer.namespace = $namespace
    RETURN newer.uid ORDER BY newer.uid
  } AS superseded_by, m:PendingEmbedding AS pending, m:EmbeddingRefused AS refused,
  head(COLLECT { MATCH (m)-[r:REFUSED_BY]->(s:EmbeddingSpace) WHERE s.active RETURN r.language }) AS unread
