"""The base of every room: errors, settings, keys, logs, metrics, the vocabulary of fields."""
