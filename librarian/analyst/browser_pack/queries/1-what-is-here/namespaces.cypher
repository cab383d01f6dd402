// Namespaces
// Every namespace of this graph and how much it holds. A limited copy has only one.
MATCH (m:Item)
RETURN m.namespace AS namespace, count(*) AS items, max(m.created_at) AS last_stored
ORDER BY items DESC
