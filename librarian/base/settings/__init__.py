"""Settings: the only place that reads the environment."""
