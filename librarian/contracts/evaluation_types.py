"""The report of `librarian eval types`."""

from msgspec import Struct


class TypeScores(Struct, kw_only=True):
    """How well one type is told: texts `labelled` with it, texts `told` to be of it; shares are null over nothing."""

    labelled: int
    told: int
    precision: float | None
    recall: float | None
    f1: float


class TypesEvalReport(Struct, kw_only=True):
    """Types told of labelled texts. `macro_f1` is the mean over the types that the file has.

    Auto-applied is what would be written without asking anybody: a confidence of .7 or more and a type that is not
    Unknown; `coverage` is its share of all texts, `sure_precision` counts Unknown in. `confusion` is label -> told type
    -> texts; `methods` counts what decided. `space` is the embedding space whose vectors were used, null for words
    alone.
    """

    file: str
    texts: int
    space: str | None
    macro_f1: float
    accuracy: float
    auto_applied: int
    auto_applied_precision: float | None
    coverage: float
    sure_precision: float | None
    types: dict[str, TypeScores]
    confusion: dict[str, dict[str, int]]
    methods: dict[str, int]
