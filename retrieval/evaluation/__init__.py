"""Measuring retrieval: metrics, paired comparison, baselines, and weights tried where they were not tuned."""
