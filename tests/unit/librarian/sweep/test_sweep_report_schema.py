"""The JSON Schema of the sweep's report, which others validate with.

RENEW=1 .venv/bin/pytest tests/unit/librarian/sweep/test_sweep_report_schema.py writes the file anew.
"""

import os
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, ValidationError

from librarian.base.schemas import inlined_schema
from librarian.http.examples import examples_of
from librarian.sweep.contracts import SweepReport
from scripts.reference import compact_json

FILE = Path(__file__).resolve().parents[4] / "docs" / "sweep-report.schema.json"


@pytest.fixture
def published():
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **inlined_schema(SweepReport)}
    text = compact_json(schema)
    if os.environ.get("RENEW"):
        FILE.write_text(text, encoding="utf-8")
    assert FILE.read_text(encoding="utf-8") == text
    return schema


@pytest.mark.parametrize("title", sorted(examples_of(SweepReport)))
def test_the_published_schema_takes_every_report(published, title):
    """It is the struct's own, and the examples fit it."""
    Draft202012Validator.check_schema(published)
    Draft202012Validator(published).validate(examples_of(SweepReport)[title])


@pytest.mark.parametrize("name", ["sweep_id", "dry_run", "config", "summary", "changes"])
def test_what_every_report_has_is_required(published, name):
    """The parts that the specification names are never left out."""
    report = {**examples_of(SweepReport)["a plan"]}
    del report[name]
    with pytest.raises(ValidationError):
        Draft202012Validator(published).validate(report)


def test_the_summary_counts_what_the_specification_names(published):
    """In its words."""
    assert set(published["properties"]["summary"]["properties"]) == {
        "memories_scanned", "memories_retyped", "memories_templated", "causal_edges_created", "unknown_flagged",
    }  # fmt: skip
