"""Trained heads, made by training/memory_types.py."""
