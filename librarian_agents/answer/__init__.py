"""Answers with citations."""
