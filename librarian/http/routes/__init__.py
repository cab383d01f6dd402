"""Special handlers: streams, uploads, transfers, the service itself and its documentation."""
