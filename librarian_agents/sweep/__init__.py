"""The judgement of a sweep: causal edges, types, templates, losses."""
