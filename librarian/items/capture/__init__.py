"""Sessions of coding agents, kept turn by turn: the hook that they call, its spool, and the delivery to the graph."""
