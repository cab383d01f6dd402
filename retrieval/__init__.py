"""Ranking: text, encoders, fusion and the search pipeline; knows graph values, never HTTP."""
