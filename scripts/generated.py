"""Generated files of the documentation: part of the built site, not of the repository."""

from collections.abc import Callable, Mapping
from pathlib import Path

from scripts import reference, reference_operating

GENERATED: Mapping[str, Callable[[Path], str]] = {
    "tools.json": lambda _docs: reference.tools_json(),
    "reference/http.md": lambda _docs: reference.http_page(),
    "reference/tools.md": lambda _docs: reference.tools_page(),
    "reference/cli.md": lambda _docs: reference.cli_page(),
    "reference/settings.md": reference_operating.settings_page,
    "reference/metrics.md": lambda _docs: reference_operating.metrics_page(),
    "reference/errors.md": lambda _docs: reference_operating.errors_page(),
}


def generated(docs: Path) -> dict[str, str]:
    """Return the texts of the generated files by their paths below `docs`.

    Raises ValueError if a page of `docs` lacks a part that a generated page needs.
    """
    return {name: generate(docs) for name, generate in GENERATED.items()}
