"""The managed Neo4j server: artifacts, Java, configuration, process."""
