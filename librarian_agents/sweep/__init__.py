"""What a sweep thinks: causal edges, types, templates, losses."""
