"""One script per claim; README.md says how to repeat them."""
