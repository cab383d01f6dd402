"""The analysts' read-only copy and the pack for Neo4j Browser."""
