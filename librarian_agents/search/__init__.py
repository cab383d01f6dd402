"""The search agent: its loop, reasoners, selection, trace and replay."""
