"""Sweeps and reviews: plan, apply, undo, decide."""
