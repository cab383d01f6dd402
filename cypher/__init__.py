"""Text of every Cypher statement and a small loader for them by name; imports nothing of ours."""
