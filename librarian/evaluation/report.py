"""Reports of the evaluation as tables and as Markdown."""

from collections.abc import Iterable, Sequence

from librarian.evaluation.contracts import Comparison, DatasetReport, EvalReport, Metrics

COLUMNS = ("recall@1", "recall@5", "recall@10", "recall@20", "mrr", "ndcg@10", "any@10")
ABSTAINING = ("abstention", "unwanted", "false_abstention", "precision", "size")

Cells = Sequence[str]
Titled = tuple[str, tuple[Cells, Sequence[Cells]]]


def markdown(report: EvalReport) -> str:
    """Return the report as a page of tables."""
    parts = ["# Retrieval evaluation", _made_with(report)]
    for dataset in report.datasets:
        parts.append(f"## {dataset.dataset}")
        parts.append(_described(dataset))
        parts += [f"### {title}\n\n{_markdown_table(*table)}" for title, table in tables(dataset)]
    return "\n\n".join(parts) + "\n"


def tables(dataset: DatasetReport) -> list[Titled]:
    """Return title, header and rows of each table of the data set."""
    found: list[Titled] = [
        (
            "Ranking",
            (
                ("system", *COLUMNS, "p50 ms", "p95 ms"),
                [
                    (own.system, *_figures(own.overall, COLUMNS), *(f"{ms:.1f}" for ms in own.latency_ms.values()))
                    for own in dataset.systems
                ],
            ),
        ),
        (
            "Saying nothing",
            (("system", *ABSTAINING), [(own.system, *_figures(own.overall, ABSTAINING)) for own in dataset.systems]),
        ),
    ]
    if len(dataset.categories) > 1:
        rows = [row for category in dataset.categories for row in _by_category(dataset, category)]
        found.append(("By category", (("category", "questions", "system", *COLUMNS[:-1], "abstention"), rows)))
    if dataset.comparisons:
        head = ("metric", "resampled by", "difference", "95 % interval", "b ahead")
        first = dataset.comparisons[0]
        rows = [_compared(comparison) for comparison in dataset.comparisons]
        found.append((f"{first.b} (b) against {first.a} (a)", (head, rows)))
    return found


def _by_category(dataset: DatasetReport, category: str) -> list[Cells]:
    count = str(dataset.categories[category])
    columns = (*COLUMNS[:-1], "abstention")
    return [
        (category, count, system.system, *_figures(system.by_category.get(category, {}), columns))
        for system in dataset.systems
    ]


def _compared(found: Comparison) -> Cells:
    interval = f"{found.low:+.3f} to {found.high:+.3f}"
    return (found.metric, found.resampled, f"{found.difference:+.3f}", interval, f"{found.b_ahead:.0%}")


def _figures(metrics: Metrics, names: Iterable[str]) -> list[str]:
    return [f"{metrics[name]:.3f}" if name in metrics else "" for name in names]


def _made_with(report: EvalReport) -> str:
    setup = f"Librarian {report.version}; encoder {report.encoder}; reranker: {report.reranker}; seed {report.seed}; "
    return setup + f"{report.limit} hits at most. {' '.join(f'{note}.' for note in report.notes)}".rstrip()


def _described(dataset: DatasetReport) -> str:
    corpora = dataset.corpora
    where = f"{corpora['largest']} {dataset.unit}s"
    if corpora["namespaces"] > 1:
        where = f"{corpora['smallest']} to {where} in each of {corpora['namespaces']} namespaces"
    return f"{dataset.questions} questions with an answer, {dataset.unanswerable} without; {where}."


def _markdown_table(head: Cells, rows: Sequence[Cells]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
