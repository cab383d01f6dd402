"""Captures sessions of coding agents turn by turn: the hook they call, its spool, and the delivery to the graph."""
