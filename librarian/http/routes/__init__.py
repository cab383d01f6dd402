"""Handlers of what is special: streams, uploads, transfers, the service itself and its documentation."""
