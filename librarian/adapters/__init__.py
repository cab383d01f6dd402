"""Adapters from agent frameworks to the clients: one module per framework, each with its own extra."""
