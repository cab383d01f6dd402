"""The Professor: another service that owns documents and their physical search, asked over HTTP."""
