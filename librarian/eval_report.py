"""Reports of the evaluation as Markdown, and as one HTML file that needs nothing else."""

from collections.abc import Iterable, Sequence
from html import escape

from librarian.contracts.evaluation import Comparison, DatasetReport, EvalReport, Metrics, SystemReport

COLUMNS = ("recall@1", "recall@5", "recall@10", "recall@20", "mrr", "ndcg@10", "any@10")
ABSTAINING = ("abstention", "unwanted", "false_abstention", "precision", "size")
_PLOTTED = ("recall@5", "recall@10", "ndcg@10")
_BAR, _GAP, _LABEL, _WIDTH = 16, 6, 300, 420

Cells = Sequence[str]
Titled = tuple[str, tuple[Cells, Sequence[Cells]]]


def markdown(report: EvalReport) -> str:
    """The report as a page of tables."""
    parts = ["# Retrieval evaluation", _made_with(report)]
    for dataset in report.datasets:
        parts.append(f"## {dataset.dataset}")
        parts.append(_described(dataset))
        parts += [f"### {title}\n\n{_markdown_table(*table)}" for title, table in tables(dataset)]
    return "\n\n".join(parts) + "\n"


def html(report: EvalReport) -> str:
    """The report as a page with the same tables, and a plot for each data set."""
    body = [f"<h1>Retrieval evaluation</h1><p>{escape(_made_with(report))}</p>"]
    for dataset in report.datasets:
        body.append(f"<h2>{escape(dataset.dataset)}</h2><p>{escape(_described(dataset))}</p>")
        body.append(_bars(dataset.systems))
        if dataset.comparisons:
            body.append(_intervals(dataset.comparisons))
        body += [f"<h3>{escape(title)}</h3>{_html_table(*table)}" for title, table in tables(dataset)]
    return _PAGE.format(body="\n".join(body))


def tables(dataset: DatasetReport) -> list[Titled]:
    """Title, head and rows of each table that the data set fills."""
    found: list[Titled] = [
        ("Ranking", (("system", *COLUMNS, "p50 ms", "p95 ms"), [_ranking(one) for one in dataset.systems])),
        ("Saying nothing", (("system", *ABSTAINING), [_abstaining(one) for one in dataset.systems])),
    ]
    if len(dataset.categories) > 1:
        rows = [row for category in dataset.categories for row in _by_category(dataset, category)]
        found.append(("By category", (("category", "questions", "system", *COLUMNS[:-1], "abstention"), rows)))
    if dataset.comparisons:
        head = ("metric", "resampled by", "difference", "95 % interval", "b ahead")
        first = dataset.comparisons[0]
        rows = [_compared(one) for one in dataset.comparisons]
        found.append((f"{first.b} (b) against {first.a} (a)", (head, rows)))
    return found


def _ranking(system: SystemReport) -> Cells:
    return (system.system, *_figures(system.overall, COLUMNS), *(f"{ms:.1f}" for ms in system.latency_ms.values()))


def _abstaining(system: SystemReport) -> Cells:
    return (system.system, *_figures(system.overall, ABSTAINING))


def _by_category(dataset: DatasetReport, category: str) -> list[Cells]:
    count = str(dataset.categories[category])
    columns = (*COLUMNS[:-1], "abstention")
    return [
        (category, count, one.system, *_figures(one.by_category.get(category, {}), columns)) for one in dataset.systems
    ]


def _compared(one: Comparison) -> Cells:
    interval = f"{one.low:+.3f} to {one.high:+.3f}"
    return (one.metric, one.resampled, f"{one.difference:+.3f}", interval, f"{one.b_ahead:.0%}")


def _figures(metrics: Metrics, names: Iterable[str]) -> list[str]:
    return [f"{metrics[name]:.3f}" if name in metrics else "" for name in names]


def _made_with(report: EvalReport) -> str:
    said = f"Librarian {report.version}; encoder {report.encoder}; reranker: {report.reranker}; seed {report.seed}; "
    return said + f"{report.limit} hits at most. {' '.join(f'{note}.' for note in report.notes)}".rstrip()


def _described(dataset: DatasetReport) -> str:
    corpora = dataset.corpora
    where = f"{corpora['largest']} {dataset.unit}s"
    if corpora["namespaces"] > 1:
        where = f"{corpora['smallest']} to {where} in each of {corpora['namespaces']} namespaces"
    return f"{dataset.questions} questions with an answer, {dataset.unanswerable} without; {where}."


def _markdown_table(head: Cells, rows: Sequence[Cells]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _html_table(head: Cells, rows: Sequence[Cells]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{top}</tr>{body}</table>"


def _bars(systems: Sequence[SystemReport]) -> str:
    """A bar for each system and metric, 0 to 1."""
    lines = [(f"{one.system}: {name}", one.overall.get(name)) for name in _PLOTTED for one in systems]
    known = [(label, value) for label, value in lines if value is not None]
    marks = [
        f'<rect x="{_LABEL}" y="{_top(place)}" width="{value * _WIDTH:.1f}" height="{_BAR}" class="bar"/>'
        f"{_text(_LABEL + value * _WIDTH + 4, place, f'{value:.3f}')}"
        for place, (_, value) in enumerate(known)
    ]
    return _svg([label for label, _ in known], marks)


def _intervals(comparisons: Sequence[Comparison]) -> str:
    """The interval of each difference on one axis, with a line at 0."""
    reach = max(0.01, *(max(abs(one.low), abs(one.high)) for one in comparisons))
    middle = _LABEL + _WIDTH / 2

    def at(value: float) -> str:
        return f"{middle + value / reach * _WIDTH / 2:.1f}"

    marks = [f'<line x1="{middle}" x2="{middle}" y1="0" y2="{_top(len(comparisons))}" class="zero"/>']
    for place, one in enumerate(comparisons):
        y = _top(place) + _BAR / 2
        marks.append(f'<line x1="{at(one.low)}" x2="{at(one.high)}" y1="{y}" y2="{y}" class="interval"/>')
        marks.append(f'<circle cx="{at(one.difference)}" cy="{y}" r="4" class="bar"/>')
        marks.append(_text(_LABEL + _WIDTH + 8, place, f"{one.difference:+.3f}"))
    return _svg([f"{one.metric}, by {one.resampled}" for one in comparisons], marks)


def _svg(labels: Sequence[str], marks: Sequence[str]) -> str:
    height = _top(len(labels)) + _GAP
    said = "".join(_text(_LABEL - 8, place, label, anchor="end") for place, label in enumerate(labels))
    return f'<svg viewBox="0 0 {_LABEL + _WIDTH + 70} {height}" role="img">{said}{"".join(marks)}</svg>'


def _text(x: float, place: int, text: str, *, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{_top(place) + _BAR - 4}" text-anchor="{anchor}">{escape(text)}</text>'


def _top(place: int) -> int:
    return _GAP + place * (_BAR + _GAP)


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Retrieval evaluation</title><style>
body {{ font: 15px system-ui, sans-serif; max-width: 72em; margin: 2em auto; padding: 0 1em; color: #222; }}
table {{ border-collapse: collapse; margin: 1em 0; font-variant-numeric: tabular-nums; }}
th, td {{ border-bottom: 1px solid #ddd; padding: .25em .7em; text-align: left; }}
svg {{ max-width: 60em; font: 12px system-ui, sans-serif; }}
.bar {{ fill: #2f6f9f; }} .interval {{ stroke: #2f6f9f; stroke-width: 2; }} .zero {{ stroke: #999; }}
</style></head><body>
{body}
</body></html>
"""
