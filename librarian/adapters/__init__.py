"""Frameworks in which agents are built, over the clients: one module a framework, each with an extra of its own."""
