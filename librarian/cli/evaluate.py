"""`librarian eval`: one command a module, `evaluate_NAME.py`, listed in COMMANDS."""

from librarian.cli.evaluate_causal import causal
from librarian.cli.evaluate_evidence import evidence
from librarian.cli.evaluate_files import files
from librarian.cli.evaluate_replay import replay
from librarian.cli.evaluate_retrieval import retrieval
from librarian.cli.evaluate_types import types
from librarian.cli.evaluate_weights import weights
from librarian.cli.runtime import new_app

app = new_app("Measure quality on labelled data.")

COMMANDS = (retrieval, replay, weights, causal, evidence, types, files)


@app.callback()
def evaluate() -> None:
    """Measure quality on labelled data."""


for command in COMMANDS:
    app.command()(command)
