"""Quality of searches on labelled data, compared with baselines over the same texts, and the gain of each signal.

LIBRARIAN_EVAL_DATA names the folder with the data sets (default: ../shared/data); without it the shipped sample is
used. For more options: `librarian eval retrieval`.
"""

import os
from pathlib import Path
from typing import Any

from benchmarks.common import disposable, main, progress, report
from librarian.evaluation.contracts import DEFAULT_SYSTEMS, DatasetReport
from librarian.evaluation.data import SAMPLE
from librarian.evaluation.lab import Lab
from librarian.evaluation.retrieval import Evaluation
from librarian.evaluation.systems import EACH_SIGNAL

DATA = Path(os.environ.get("LIBRARIAN_EVAL_DATA", "../shared/data"))
SETS = ("locomo", "longmemeval", "evidence_selection", "japanese_retrieval")
SHOWN = ("recall@1", "recall@5", "recall@10", "recall@20", "mrr", "ndcg@10", "abstention")


def rows(dataset: DatasetReport) -> list[dict[str, Any]]:
    """One row per system."""
    facts = {"dataset": dataset.dataset, "questions": dataset.questions, "largest": dataset.corpora["largest"]}
    return [
        {**facts, "system": one.system, **{metric: one.overall.get(metric) for metric in SHOWN}, **one.latency_ms}
        for one in dataset.systems
    ]


async def benchmark() -> None:
    """Run every available data set; the gain of signals is measured on the first."""
    there = [str(DATA / name) for name in SETS if (DATA / name).is_dir()] or [SAMPLE]
    found = []
    async with disposable() as (librarian, _):
        for number, name in enumerate(there):
            systems = (*DEFAULT_SYSTEMS, EACH_SIGNAL) if number == 0 else DEFAULT_SYSTEMS
            evaluated = await Lab(librarian).retrieval(
                Evaluation([name], systems),
                on_progress=lambda done, total, name=name: progress(f"{Path(name).name}: {done} of {total}"),  # type: ignore[misc]  # the default binds the name
            )
            found += [row for dataset in evaluated.datasets for row in rows(dataset)]
    report("retrieval_quality", found, encoder=evaluated.encoder, version=evaluated.version)


if __name__ == "__main__":
    main(benchmark)
