"""The change feed on the command line."""
