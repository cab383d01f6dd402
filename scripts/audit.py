"""Checks the installed packages for known vulnerabilities (pip-audit), at most once a day.

Without a network, or when the answer takes too long, it says so and succeeds, as the check is not about this tree.
Findings are printed; with --strict they are a failure.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

_PATIENCE_S = 20
_ASKED_EACH_S = 3
_ANSWER_COUNTS_S = 24 * 3600
_SKIP_COUNTS_S = 3600
_AUDIT = (
    *(sys.executable, "-m", "pip_audit", "--local", "--skip-editable", "--progress-spinner", "off"),
    *("--format", "json", "--timeout", str(_ASKED_EACH_S)),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of an audit, in lines for people; `answered` is False if there was no answer."""

    lines: tuple[str, ...]
    findings: int = 0
    answered: bool = True


def audited(command: Sequence[str], patience_s: float) -> Outcome:
    """Run pip-audit and read its answer."""
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=patience_s)
    except subprocess.TimeoutExpired:
        return Outcome((f"audit skipped: no network (no answer within {patience_s:g} s)",), answered=False)
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        reason = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        return Outcome((f"audit skipped: no network ({reason[:200]})",), answered=False)
    findings = [
        f"{package['name']} {package['version']}: {entry['id']}{_fixed(entry['fix_versions'])}"
        for package in packages
        for entry in package.get("vulns", ())
    ]
    summary = f"audit: {len(findings)} known vulnerabilities in {len(packages)} packages"
    return Outcome((*findings, summary), len(findings))


def _fixed(versions: Sequence[str]) -> str:
    return f", fixed in {', '.join(versions)}" if versions else ", not fixed yet"


class Memory:
    """A cache of the last outcome for the same packages, in a file beside them."""

    def __init__(self, file: Path, packages: Iterable[str], clock: Callable[[], float] = time.time) -> None:
        self._file = file
        self._packages = hashlib.sha256("\n".join(sorted(packages)).encode()).hexdigest()
        self._clock = clock

    def recall(self) -> Outcome | None:
        """Return the recent outcome, if any."""
        try:
            kept = json.loads(self._file.read_text(encoding="utf-8"))
            outcome = Outcome(tuple(kept["lines"]), kept["findings"], kept["answered"])
            age_s = self._clock() - kept["at"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        counts_s = _ANSWER_COUNTS_S if outcome.answered else _SKIP_COUNTS_S
        return outcome if kept["packages"] == self._packages and 0 <= age_s < counts_s else None

    def keep(self, outcome: Outcome) -> None:
        """Store the outcome."""
        kept = {"lines": outcome.lines, "findings": outcome.findings, "answered": outcome.answered}
        self._file.write_text(json.dumps({**kept, "packages": self._packages, "at": self._clock()}), encoding="utf-8")


def main() -> int:
    """Audit, or print the last outcome; the exit code is 1 for findings with --strict."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--strict", action="store_true", help="ignore the cache, and fail on findings")
    strict = parser.parse_args().strict
    installed = (f"{package.name}=={package.version}" for package in distributions())
    memory = Memory(Path(sys.prefix) / "audit.json", installed)
    outcome = None if strict else memory.recall()
    if outcome is None:
        outcome = audited(_AUDIT, _PATIENCE_S * (6 if strict else 1))
        memory.keep(outcome)
    sys.stdout.write("\n".join(outcome.lines) + "\n")
    return 1 if strict and outcome.findings else 0


if __name__ == "__main__":
    sys.exit(main())
