"""The search agent and the Professor."""
