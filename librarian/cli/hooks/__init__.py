"""`librarian hook`: the hooks of coding agents, which keep what is said in their sessions."""
