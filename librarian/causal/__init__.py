"""Causal questions and their drawings."""
