"""The change feed: changes of items, files and edges, for other systems to follow."""
