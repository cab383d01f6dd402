"""The client of language models."""
