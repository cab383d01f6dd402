// Facts about a person
// In the order in which they began to hold. An end far in the future means that it still holds.
// :param namespace => 'sample'
// :param person => 'rui-carvalho'
MATCH (p:Person {namespace: $namespace, person_id: $person})<-[:ABOUT]-(f:Fact)
RETURN f.valid_from AS valid_from, f.valid_to AS valid_to, f.relationship_type AS relationship, f.text AS text, f.uid AS uid
ORDER BY valid_from
