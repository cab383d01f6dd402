"""`librarian hook`: hooks that capture the sessions of coding agents."""
