"""Reasoning without a database: plain data in, verdicts with evidence out; imports nothing of ours."""
