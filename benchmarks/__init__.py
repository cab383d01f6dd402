"""One script a claim; README.md says how to repeat them."""
