// What is in here
// Items of the namespace by kind, with the time that they cover.
// :param namespace => 'sample'
MATCH (m:Item)
WHERE m.namespace = $namespace
RETURN m.kind AS kind, count(*) AS items, min(m.occurred_at) AS oldest, max(m.occurred_at) AS newest
ORDER BY items DESC
