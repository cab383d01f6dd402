"""Rerankers: how well a text answers a query, judged pair by pair."""
