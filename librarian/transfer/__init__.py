"""Files that hold whole namespaces: written atomically, and checked for completeness before they are read."""
