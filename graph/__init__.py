"""Everything that speaks Bolt, and the managed Neo4j server."""
