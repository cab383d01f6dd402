"""Items: their rows, ingest, changes, deletion, edges, namespaces, importers."""
