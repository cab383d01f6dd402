"""The reference pages of settings, metrics and errors, generated from the program."""

import re
from collections.abc import Iterator
from pathlib import Path

import platformdirs
from prometheus_client.metrics import MetricWrapperBase

from librarian.base import metrics, problems
from librarian.base.settings.reader import Entry
from librarian.base.settings.settings import Settings

# The page searched first for the meaning of a setting.
_MAIN_PAGE = "operations.md"
_NAME = re.compile(r"`([A-Z][A-Z0-9_]+)`")
_LINK = re.compile(r"\]\((?!https?:|#)")
_HERE = re.compile(r"\]\(#")


def settings_page(docs: Path) -> str:
    """reference/settings.md: names and defaults from the program, meanings from the pages of `docs`.

    Raises ValueError for a setting that no table explains.
    """
    explained = dict(_explained(docs))
    entries = Settings.from_env({}).entries
    if missing := [entry.name for entry in entries if entry.name not in explained]:
        raise ValueError(f"no table in docs/ explains {', '.join(missing)}")
    rows = "".join(_row(entry, *explained[entry.name]) for entry in entries)
    head = (
        "Every setting is an environment variable; an empty one counts as unset. `librarian config show` prints the\n"
        "current values. [operations.md](../operations.md#settings) groups them by purpose.\n"
    )
    return f"# Settings\n\n{head}\n| setting | default | meaning | explained in |\n|---|---|---|---|\n{rows}"


def metrics_page() -> str:
    """reference/metrics.md: every metric with its labels."""
    every = [metric for metric in vars(metrics).values() if isinstance(metric, MetricWrapperBase)]
    rows = "".join(sorted(map(_metric, every)))
    head = (
        "The metrics of `GET /metrics`, for one process. Histograms also have `_bucket`, `_sum` and `_count`.\n"
        "[operations.md](../operations.md#metrics) says what to watch.\n"
    )
    return f"# Metrics\n\n{head}\n| metric | type | labels | what | buckets |\n|---|---|---|---|---|\n{rows}"


def errors_page() -> str:
    """reference/errors.md: every code of a problem with its status and exit code."""
    rules = {rule.code: (kind, rule) for kind, rule in problems.RULES.items()}
    rows = "".join(_error(*rules[code]) for code in sorted(rules))
    head = (
        "Every code of a problem, with its HTTP status and the exit code of the command line. If a retry can help,\n"
        "the answer carries `Retry-After`. [http-api.md](../http-api.md#errors) shows the form of a problem,\n"
        "[cli.md](../cli.md#exit-codes) groups the exit codes.\n"
    )
    columns = "| code | status | exit code | again | meaning |\n|---|---|---|---|---|\n"
    return f"# Errors\n\n{head}\n{columns}{rows}"


def _explained(docs: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield (setting, (meaning, page)) of every table row that begins with settings; later ones take precedence."""
    pages = sorted(docs.glob("*.md"), key=lambda path: (path.name == _MAIN_PAGE, path.name))
    for page in pages:
        for line in page.read_text(encoding="utf-8").splitlines():
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            if line.startswith("| `") and len(cells) > 1 and cells[-1]:
                yield from ((name, (cells[-1], page.name)) for name in _NAME.findall(cells[0]))


def _row(entry: Entry, meaning: str, page: str) -> str:
    value = entry.value.replace(str(platformdirs.user_data_path("librarian")), "the user's data folder")
    value = value.replace(str(platformdirs.user_cache_path("librarian")), "the user's cache folder")
    shown = "none" if not value else value if value.startswith("the user's") else f"`{value}`"
    there = _HERE.sub(f"](../{page}#", meaning)
    return f"| `{entry.name}` | {shown} | {_LINK.sub('](../', there.replace('](../', ']('))} | [{page}](../{page}) |\n"


def _metric(metric: MetricWrapperBase) -> str:
    (family,) = metric.describe()
    name = f"{family.name}_total" if family.type == "counter" else family.name
    labels = ", ".join(f"`{label}`" for label in metrics.LABELS[family.name])
    bounds = ", ".join(f"{bound:g}" for bound in getattr(metric, "_upper_bounds", ()) if bound != float("inf"))
    return f"| `{name}` | {family.type} | {labels} | {family.documentation} | {bounds} |\n"


def _error(kind: type[Exception], rule: problems.Rule) -> str:
    meaning = (kind.__doc__ or "").strip().partition("\n\n")[0].replace("\n", " ")
    again = "yes" if rule.retry_after_s is not None else ""
    return f"| `{rule.code}` | {rule.status} | {rule.exit_code} | {again} | {' '.join(meaning.split())} |\n"
