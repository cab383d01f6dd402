"""Finds our packages that another distribution shadows."""

import importlib.util
from pathlib import Path

PACKAGES = ("cypher", "graph", "librarian", "librarian_agents", "migrations", "retrieval")
ROOT = Path(__file__).resolve().parents[3]
REMEDY = "Remove the other distribution, or use a separate environment."


def conflicting_distributions() -> list[str]:
    """Return a line for each package that comes from another distribution; imports none of them."""
    origins = {name: importlib.util.find_spec(name) for name in PACKAGES}
    return [
        f"{name} comes from {spec.origin if spec else 'nowhere'}"
        for name, spec in origins.items()
        if spec is None or spec.origin is None or not Path(spec.origin).resolve().is_relative_to(ROOT / name)
    ]
