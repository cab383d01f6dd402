"""Dashboard and alerts: every expression is PromQL, and every metric and label in them is one that we expose."""

import json
import re

import promql_parser
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from librarian.base import metrics

# Of Prometheus itself, not of the service.
FOREIGN = {"up"}
VARIABLES = {"$__rate_interval": "5m", "$job": "librarian", "$instance": "x"}
ADDED_LABELS = {"job", "instance", "le"}
SERIES = {"counter": ["_total"], "gauge": [""], "histogram": ["_bucket", "_sum", "_count"]}


@pytest.fixture(scope="module")
def dashboard(deploy):
    return json.loads((deploy / "grafana/librarian.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def panels(dashboard):
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


@pytest.fixture(scope="module")
def rules(deploy):
    groups = yaml.safe_load((deploy / "prometheus/librarian.rules.yml").read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


@pytest.fixture(scope="module")
def exposed():
    """Labels of every series that the service exposes, by the series' name."""
    families = text_string_to_metric_families(metrics.exposition().decode())
    return {
        f"{family.name}{ending}": set(metrics.LABELS[family.name])
        for family in families
        if not family.name.endswith("_created")
        for ending in SERIES[family.type]
    }


def plain(expression):
    for name, value in VARIABLES.items():
        expression = expression.replace(name, value)
    return expression


def selectors(node):
    """Every (metric, labels) that an expression reads, and the labels that it groups by."""
    if isinstance(node, promql_parser.VectorSelector):
        yield node.name, {matcher.name for matcher in node.matchers.matchers}
    for part in ("expr", "vector_selector", "lhs", "rhs", "args", "param"):
        inner = getattr(node, part, None)
        for entry in inner if isinstance(inner, list) else [inner]:
            if entry is not None and not isinstance(entry, (str, float, int)):
                yield from selectors(entry)


def checked(expression, exposed):
    found = list(selectors(promql_parser.parse(plain(expression))))
    assert found, expression
    for name, labels in found:
        assert name in {*exposed, *FOREIGN}, f"{name} in {expression}"
        assert labels <= exposed.get(name, set()) | ADDED_LABELS, expression
    grouped = {label.strip() for group in re.findall(r"by \(([^)]*)\)", expression) for label in group.split(",")}
    assert grouped <= {label for name, _ in found for label in exposed.get(name, ())} | ADDED_LABELS, expression


def test_every_panel_asks_for_what_we_expose(panels, exposed):
    for panel in panels:
        for target in panel["targets"]:
            checked(target["expr"], exposed)
            shown = set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
            assert shown <= set(re.findall(r"\w+", " ".join(re.findall(r"by \(([^)]*)\)", target["expr"])))), target


def test_every_alert_asks_for_what_we_expose(rules, exposed):
    for rule in rules:
        checked(rule["expr"], exposed)


def test_every_figure_is_shown(panels, exposed):
    """No metric is left out of the dashboard."""
    shown = " ".join(target["expr"] for panel in panels for target in panel["targets"])
    families = {re.sub(r"_(total|bucket|count|sum|created)$", "", name) for name in exposed}
    assert sorted(family for family in families if family not in shown) == []


def test_panels_do_not_lie_on_one_another(dashboard):
    taken = set()
    for panel in dashboard["panels"]:
        grid = panel["gridPos"]
        cells = {(grid["x"] + x, grid["y"] + y) for x in range(grid["w"]) for y in range(grid["h"])}
        assert not taken & cells, panel["title"]
        assert grid["x"] + grid["w"] <= 24
        taken |= cells
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])


def test_every_alert_has_its_chapter_in_the_runbook(rules, project):
    """Under its own name, with the same severity; and the runbook knows no other."""
    runbook = (project / "docs/runbook.md").read_text(encoding="utf-8")
    chapters = dict(re.findall(r"(?m)^### (Librarian\w+)\n+Severity: (\w+)\.", runbook))
    assert chapters == {rule["alert"]: rule["labels"]["severity"] for rule in rules}
    assert all(rule["annotations"]["summary"] for rule in rules)


def test_the_job_is_the_one_that_is_scraped(deploy, rules):
    scraped = yaml.safe_load((deploy / "prometheus/librarian.scrape.yml").read_text(encoding="utf-8"))
    (job,) = scraped["scrape_configs"]
    named = {name for rule in rules for name in re.findall(r'job="([^"]*)"', rule["expr"])}
    assert named == {job["job_name"]}
