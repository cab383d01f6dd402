"""The published wheel works away from the source tree: every data file is in it and the command starts."""

import os
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import pytest

pytestmark = pytest.mark.slow


@dataclass(frozen=True, slots=True)
class Installed:
    """An environment that holds nothing but the built wheel; its dependencies are borrowed from ours."""

    folder: Path
    wheel: Path
    site_packages: Path

    def run(self, command: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run a command of the environment from a folder outside the project."""
        taken = ("LIBRARIAN_", "NEO4J_", "PYTHON")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(taken)}
        environment["LIBRARIAN_HOME"] = str(cwd / "home")
        executable = self.folder / "bin" / command
        return subprocess.run(
            [executable, *arguments], cwd=cwd, env=environment, check=False, capture_output=True, text=True
        )


@pytest.fixture(scope="module")
def installed(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel, built by way of the sdist and installed without network or dependencies."""
    folder = tmp_path_factory.mktemp("environment")
    dist = tmp_path_factory.mktemp("dist")
    _python("-m", "build", "--no-isolation", "--outdir", str(dist), str(project))
    (wheel,) = dist.glob("*.whl")
    venv.create(folder, with_pip=False, symlinks=True)
    _python("-m", "pip", "--python", str(folder), "install", "--quiet", "--no-deps", "--no-index", str(wheel))
    (site_packages,) = folder.glob("lib/python*/site-packages")
    borrowed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    # Python does not read the .pth files of borrowed folders: the editable install of the project stays out of sight.
    (site_packages / "borrowed.pth").write_text("\n".join(sorted(borrowed)) + "\n", encoding="utf-8")
    return Installed(folder, wheel, site_packages)


def test_wheel_holds_every_file_of_the_packages(installed: Installed, project: Path, files, packages) -> None:
    """Statements, migrations, sample data, prompts and lock files travel with the code, byte for byte."""
    ours = [path for path in files if path.parts[0] in packages]
    assert {path.suffix for path in ours} >= {".py", ".cypher"}
    with ZipFile(installed.wheel) as wheel:
        missing = sorted({path.as_posix() for path in ours} - set(wheel.namelist()))
    assert missing == []
    changed = [path for path in ours if (installed.site_packages / path).read_bytes() != (project / path).read_bytes()]
    assert changed == []


def test_wheel_holds_nothing_else(installed: Installed, files) -> None:
    """Neither tests nor leftovers of the build are published."""
    with ZipFile(installed.wheel) as wheel:
        shipped = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert sorted(shipped - {path.as_posix() for path in files}) == []


def test_installed_packages_are_the_wheels(installed: Installed, tmp_path: Path, packages) -> None:
    """All packages import from the wheel, so that the next test does not look at the source tree."""
    script = f"import importlib\nfor name in {packages!r}: print(importlib.import_module(name).__file__)"
    done = installed.run("python", "-c", script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [Path(line).parent for line in done.stdout.split("\n")[:-1]] == [
        installed.site_packages / name for name in packages
    ]


def test_wheel_goes_together_with_the_openai_agents_sdk(installed: Installed, tmp_path: Path) -> None:
    """The SDK's package `agents` is its own, and the adapter for it works."""
    script = (
        "import agents, librarian.adapters.openai_agents as adapter\n"
        "print(agents.__file__, adapter.__file__)\n"
        "print([tool.name for tool in adapter.LibrarianTools('n', url='http://127.0.0.1:1').all()])"
    )
    done = installed.run("python", "-c", script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    files, tools = done.stdout.splitlines()
    sdk, adapter = map(Path, files.split())
    assert adapter == installed.site_packages / "librarian" / "adapters" / "openai_agents.py"
    assert sdk.parent.name == "agents"
    assert installed.site_packages not in sdk.parents
    assert tools == "['recall', 'remember']"


def test_doctor_runs_from_the_wheel(installed: Installed, tmp_path: Path) -> None:
    """`librarian doctor` prints its checks in an empty folder; whether all are well (0) or not (1) is the machine's."""
    done = installed.run("librarian", "doctor", cwd=tmp_path)
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    assert done.stdout.strip()
    assert "Traceback" not in done.stdout + done.stderr


def _python(*arguments: str) -> None:
    done = subprocess.run([sys.executable, *arguments], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
