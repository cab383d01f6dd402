"""Schema and data migrations: a pure plan, a runner with a lock, a record in the graph."""
