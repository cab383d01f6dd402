// Find by words
// The best match first. Lucene's operators work, such as "lost lines", deploy* and pool AND postgres.
// :param namespace => 'sample'
// :param words => 'deploy failed'
CALL () {
  CALL db.index.fulltext.queryNodes('item_text', $words, {limit: 500}) YIELD node, score
  RETURN node, score
  UNION ALL
  CALL db.index.fulltext.queryNodes('item_text_cjk', $words, {limit: 500}) YIELD node, score
  RETURN node, score
}
WITH node, max(score) AS score
WHERE node.namespace = $namespace
RETURN node.uid AS uid, node.kind AS kind, node.name AS name, left(node.text, 200) AS text, node.occurred_at AS occurred_at
ORDER BY score DESC LIMIT 25
