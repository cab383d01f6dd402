"""Source trees: walking them, reading files, cutting them into parts, and keeping the graph up to date with them."""
