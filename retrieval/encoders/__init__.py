"""Encoders: text in, vectors of one embedding space out."""
