"""Facts that people state in messages."""
