"""Text of every Cypher statement and the small loader that names them; imports nothing of ours."""
