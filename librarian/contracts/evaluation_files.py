"""What `librarian eval files` measures."""

from msgspec import Struct, field


class FindScores(Struct, kw_only=True):
    """Finding files by one form of their names: share whose first path is right, and milliseconds."""

    queries: int
    top1: float
    p50_ms: float
    p95_ms: float


class FilesEvalReport(Struct, kw_only=True):
    """Search of a tree against ripgrep, and of files by name.

    `equal_share` of the queries gave the very lines of `rg -n -F`, by path and number, in files whose contents are
    stored; `different` names some others. `speedup_vs_ripgrep` is the median, over the queries, of ripgrep's time by
    ours, each query asked of both in turn. `mb_per_s` is None where the tree was indexed before.
    """

    root: str
    files: int
    queries: int
    equal_share: float
    speedup_vs_ripgrep: float
    p50_ms: float
    p95_ms: float
    ripgrep_p50_ms: float
    ripgrep_p95_ms: float
    index_s: float
    mb_per_s: float | None = None
    different: list[str] = field(default_factory=list)
    find: dict[str, FindScores] = field(default_factory=dict)
    definitions: FindScores | None = None
    notes: list[str] = field(default_factory=list)
