"""Embedding spaces: building, switching, calibrating."""
