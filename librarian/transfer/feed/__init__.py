"""The change feed: what became of items, files and edges, for other systems that follow."""
