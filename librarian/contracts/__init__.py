"""Wire contracts: one msgspec definition gives HTTP validation, schemas and CLI checks."""
