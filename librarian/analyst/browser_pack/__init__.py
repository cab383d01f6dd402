"""The pack that analysts load into Neo4j Browser: a style, saved queries, a guide."""
