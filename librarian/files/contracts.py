"""Files: indexing a source tree, finding files, searching their text, and showing what they say."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from librarian.base.fields import Cursor, Namespace, Time

MAX_FILE_HITS = 100
MAX_LINES = 1_000
MAX_CONTEXT = 20
MAX_SPAN_LINES = 2_000

FilePath = Annotated[
    str, Meta(min_length=1, max_length=1_500, description="Path of a file, relative to the folder that was indexed.")
]
Root = Annotated[str, Meta(min_length=1, max_length=4_096, description="Absolute path of the folder to index.")]
Origin = Annotated[
    str,
    Meta(max_length=4_096, description="Where the file comes from, such as `host:/folder`; kept, and listed with it."),
]
PathsOnly = Annotated[bool, Meta(description="Only paths, which makes files findable by name and nothing else.")]
FileName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=1_000,
        description="What the file is called: its path or the end of it, its name, its name without the ending, the "
        "beginning of it, words of these and of its folders (`agent panel` finds `AgentPanel.tsx`), or a name that it "
        "defines; one typo is forgiven.",
    ),
]
FileLimit = Annotated[int, Meta(ge=1, le=MAX_FILE_HITS, description="How many paths at most.")]
TextPattern = Annotated[
    str, Meta(min_length=1, max_length=1_000, description="The exact text to look for in lines; never a line break.")
]
Regex = Annotated[bool, Meta(description="The query is a regular expression in the syntax of RE2.")]
IgnoreCase = Annotated[bool, Meta(description="Capital and small letters are the same.")]
Word = Annotated[bool, Meta(description="Only where no letter, digit or underscore stands before or behind.")]
Glob = Annotated[str, Meta(min_length=1, max_length=500)]
Globs = Annotated[
    list[Glob],
    Meta(
        min_length=1,
        max_length=20,
        description="Only files that match one of these, such as `*.py` or `src/**`; `!tests/**` leaves files out.",
    ),
]
Language = Annotated[str, Meta(min_length=1, max_length=40)]
Languages = Annotated[
    list[Language], Meta(min_length=1, max_length=20, description="Only files in these languages, such as `python`.")
]
ContextLines = Annotated[int, Meta(ge=0, le=MAX_CONTEXT, description="Lines to show before and behind each hit.")]
LineLimit = Annotated[int, Meta(ge=1, le=MAX_LINES, description="How many lines at most.")]
LineNumber = Annotated[int, Meta(ge=1, le=2**31 - 1, description="Number of a line, from 1.")]
Question = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=1_000,
        description="A path, an identifier, words in quotation marks, or a question such as `where is X defined?`.",
    ),
]
FilePage = Annotated[int, Meta(ge=1, le=5_000, description="How many files a page has at most.")]
AfterPath = Annotated[str, Meta(max_length=1_500, description="The last path of the page before.")]

StaleLimit = Annotated[int, Meta(ge=1, le=1_000, description="How many at most.")]

StaleState = Literal["changed", "gone", "not_found"]
NameMatch = Literal[
    "path", "suffix", "name", "stem", "stem_in_folders", "defines", "prefix", "words", "typo", "some_words"
]
Shape = Literal["path", "definition", "identifier", "phrase", "question"]


class IndexInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Which folder of the service's machine to index."""

    root: Root
    paths_only: PathsOnly = False


class SkippedPath(Struct, kw_only=True, frozen=True):
    """Something that was left out; a folder's path ends with `/`."""

    path: str
    reason: str


class IndexReport(Struct, kw_only=True):
    """What became of a folder's files.

    `unread` counts the files that are found by name only, by reason; `skipped` what was left out altogether, by reason,
    a folder as one. `examples` has some of both, and `notes` says what can be done about files that the database has
    too little memory to store. `chunks` is how many parts were written, `held_back` how many were
    not, because they were forgotten before; `bytes` is how much was read.
    """

    root: str = ""
    files: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0
    unread: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    examples: list[SkippedPath] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    chunks: int = 0
    held_back: int = 0
    bytes: int = 0
    seconds: float = 0.0
    pending_embeddings: int | None = None


class PutFileQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Where an uploaded file comes from."""

    root: Origin = ""


class FileOut(Struct, kw_only=True, frozen=True):
    """A file as it is stored; `unread` says why its contents are not, and `sha256` is null until they are."""

    path: str
    root: str
    size: int
    sha256: str | None
    language: str | None
    lines: int | None
    unread: str | None
    indexed_at: Time | None


class PutFileOutput(Struct, kw_only=True, frozen=True):
    """What an upload did. `held_back` counts parts of the file that were forgotten before, and are not stored; `notes`
    says what can be done if the database has too little memory to store the file.
    """

    outcome: Literal["added", "updated", "unchanged"]
    file: FileOut
    held_back: int = 0
    notes: list[str] = field(default_factory=list)


class FileListQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Which page of the files."""

    after: AfterPath = ""
    limit: FilePage = 500


class FileList(Struct, kw_only=True, frozen=True):
    """Files by path; `more` says whether others follow the last one."""

    files: list[FileOut]
    more: bool


class SpanQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Which lines of a file; without any, its first 2,000."""

    start: LineNumber = 1
    end: LineNumber | None = None


class FileSpan(Struct, kw_only=True, frozen=True):
    """Lines `start` to `end` of a file that has `lines`; `text` has them with line feeds between."""

    path: str
    start: int
    end: int
    lines: int
    language: str | None
    sha256: str
    text: str


class StaleQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """How many to list."""

    limit: StaleLimit = 100


class StaleEvidence(Struct, kw_only=True, frozen=True):
    """An item (`uid`, `kind`, `name`) that cites lines of a file by `ref` which are not there.

    `state` is `changed` (the file no longer has these lines), `gone` (the file is deleted) or `not_found` (no such file
    or line was ever indexed). `start` and `end` are where the lines stood last, `content` is what they began with.
    """

    uid: str
    kind: str
    name: str
    ref: str
    path: str
    start: int
    end: int
    state: StaleState
    since: Time | None
    content: str | None


class StaleList(Struct, kw_only=True, frozen=True):
    """Stale evidence by path and line; `more` says whether there is more than is shown."""

    namespace: Namespace
    stale: list[StaleEvidence]
    more: bool


class FindFileInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """What file to find."""

    name: FileName
    limit: FileLimit = 10


class FileMatch(Struct, kw_only=True, frozen=True):
    """A file that is meant, and `why`.

    `match` says how its path meets the name, best first: it is this `path` or ends so (`suffix`); its `name`, or its
    `stem` (the name without the ending), is this, also `stem_in_folders` of the other words; it `defines` what is
    named; its name begins so (`prefix`); it has all `words`; they differ by a `typo`; it has `some_words`.
    """

    path: str
    match: NameMatch
    why: str


class FindFileOutput(Struct, kw_only=True, frozen=True):
    """Paths of files, best first, and why each is there."""

    namespace: Namespace
    name: str
    paths: list[str]
    matches: list[FileMatch]


class SearchTextInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """What text to look for in files, and in which.

    `cursor` is the `next_cursor` of the page before, sent with the same conditions.
    """

    query: TextPattern
    regex: Regex = False
    ignore_case: IgnoreCase = False
    word: Word = False
    globs: Globs | None = None
    languages: Languages | None = None
    context: ContextLines = 0
    limit: LineLimit = 50
    cursor: Cursor | None = None


class LineHit(Struct, kw_only=True, frozen=True):
    """A line that matches, numbered from 1.

    `text` is the part around the match where the line is longer than 500 characters. `defines` says what sort of thing
    the line defines under the name that was searched for; such lines come first.
    """

    path: str
    line: int
    text: str
    defines: str | None = None
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)


class SearchTextOutput(Struct, kw_only=True, frozen=True):
    """Lines that match: definitions of the name first, then sources before tests, documents, change logs and generated
    files, then by path and line.

    `more` says that others match which are not shown, and `next_cursor` gets them; `total` counts all that match, null
    where that was not counted.
    """

    namespace: Namespace
    query: str
    hits: list[LineHit]
    more: bool
    next_cursor: str | None
    total: int | None
    notes: list[str]


class TextLines(Struct, kw_only=True, frozen=True):
    """Lines that match as `path:line: text`, definitions of the name first; `more` says that others match too, and
    `next_cursor` gets them.
    """

    lines: list[str]
    more: bool
    next_cursor: str | None
    total: int | None
    notes: list[str]


class LocateInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """What to find in files."""

    query: Question
    limit: FileLimit = 10


class ChunkHit(Struct, kw_only=True, frozen=True):
    """A part of a file that is near the question in meaning; `score` is that of its file."""

    uid: str
    path: str
    start: int
    end: int
    text: str
    score: float


class Place(Struct, kw_only=True, frozen=True):
    """A file or a line of it (with its text, "" where only the file is meant), and `why` it is meant."""

    path: str
    line: int | None
    text: str
    why: str


class LocateOutput(Struct, kw_only=True, frozen=True):
    """What was found, and `why` the layers that ran were chosen; a layer that did not run is an empty list.

    `places` has the best of all layers, `paths` their files; `lines` begin with definitions; `parts` are those near in
    meaning, the best of each file first.
    """

    namespace: Namespace
    query: str
    shape: Shape
    why: str
    places: list[Place]
    paths: list[str]
    lines: list[str]
    parts: list[ChunkHit]
