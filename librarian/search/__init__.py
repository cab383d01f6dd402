"""Search: candidates to hits, relevant memory, answers, and why an item is not found."""
