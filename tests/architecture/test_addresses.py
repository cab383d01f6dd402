"""The project's texts are true on every machine: no registry's address, no path of one computer."""

import re
from pathlib import Path

# In pieces, so that this file does not hold what it looks for.
REGISTRY_HOSTS = [
    ".".join(labels)
    for labels in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("repo1", "maven", "org"),
        ("repo", "maven", "apache", "org"),
        ("central", "sonatype"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("proxy", "golang", "org"),
        ("conda", "anaconda", "org"),
    )
]
HOME_FOLDERS = "|".join(("home", "Users", "work", "root"))
MACHINE_PATH = re.compile(rf"(?<![\w.~$}}/-])/(?:{HOME_FOLDERS})/\w")


def test_no_text_names_a_package_registry(project: Path, files) -> None:
    """Where packages and jars come from is the machine's configuration (pip, Maven settings, mirrors)."""
    faults = [
        f"{path}: {host}" for path, text in _texts(project, files) for host in REGISTRY_HOSTS if host in text.lower()
    ]
    assert faults == []


def test_no_text_names_a_path_of_one_machine(project: Path, files) -> None:
    """Paths start at the project's folder, at ~ or at a variable."""
    faults = [
        f"{path}:{number} {line.strip()[:100]}"
        for path, text in _texts(project, files)
        for number, line in enumerate(text.splitlines(), start=1)
        if MACHINE_PATH.search(line)
    ]
    assert faults == []


def _texts(project: Path, files: list[Path]) -> list[tuple[Path, str]]:
    """The files that are text; what is not UTF-8 (images, archives) is left out."""
    contents = ((path, (project / path).read_bytes()) for path in files)
    return [(path, content.decode()) for path, content in contents if _is_utf8(content)]


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
