"""Evaluation of retrieval: metrics, paired comparison, baselines, and weights tested where they were not tuned."""
