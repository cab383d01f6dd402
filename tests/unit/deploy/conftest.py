"""The files that deployments start from, as they stand."""

from pathlib import Path

import pytest
import yaml

from librarian.base.settings.settings import Settings


@pytest.fixture(scope="session")
def project():
    return Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def deploy(project):
    return project / "deploy"


@pytest.fixture(scope="session")
def setting_names():
    """Every variable that Librarian reads."""
    return {entry.name for entry in Settings.from_env({}).entries}


@pytest.fixture(scope="session")
def compose(project):
    return yaml.safe_load((project / "compose.yaml").read_text(encoding="utf-8"))
