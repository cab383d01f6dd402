"""The names of our packages belong to us: `graph` and `retrieval` are common enough to be taken by others."""

import importlib.util
from importlib.metadata import packages_distributions
from pathlib import Path


def test_packages_come_from_this_project(project: Path, packages) -> None:
    """Python finds each package in the project's folder, not in an installed distribution."""
    found = {name: importlib.util.find_spec(name).origin for name in packages}
    assert found == {name: str(project / name / "__init__.py") for name in packages}


def test_no_installed_distribution_claims_our_names(packages) -> None:
    """Of two packages with one name, whichever stands first on the path would win."""
    owners = packages_distributions()
    foreign = {name: set(owners.get(name, ())) - {"librarian"} for name in packages}
    assert foreign == {name: set() for name in packages}, "uninstall the distributions named here from .venv"
