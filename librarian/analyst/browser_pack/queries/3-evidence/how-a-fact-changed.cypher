// How a fact changed
// The chain of facts that replaced each other, newer to older.
// :param namespace => 'sample'
// :param fact => 'fact-pool-size-3'
MATCH path = (:Fact)-[:SUPERSEDES*0..8]->(:Fact {namespace: $namespace, uid: $fact})-[:SUPERSEDES*0..8]->(:Fact)
RETURN path
