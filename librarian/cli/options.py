"""How each contract is given on the command line: one entry for each field, in the order of the help.

A command gets the struct itself by `@takes(Contract)`; msgspec checks it, and errors name the option.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import typer
from msgspec import Struct

from librarian.cli.values import comma_separated, last_moment, moment, pairs, text_or_stdin, yes_no
from librarian.contracts.answer import AnswerInput
from librarian.contracts.causal import CausalInput, ContradictionQuery, CycleQuery, NeighbourhoodQuery, PathQuery
from librarian.contracts.changes import CorrectInput, DeleteInput, RememberInput
from librarian.contracts.edges import EdgeQuery, UnlinkInput
from librarian.contracts.files import FindFileInput, LocateInput, SearchTextInput, StaleQuery
from librarian.contracts.items import LinkInput
from librarian.contracts.listing import ItemQuery
from librarian.contracts.relevant import RelevantInput
from librarian.contracts.reviews import ReviewInput, ReviewQuery
from librarian.contracts.search import SearchInput
from librarian.contracts.search_agent import FindEvidenceInput
from librarian.contracts.semantic import SemanticSearchInput
from librarian.contracts.sweeps import SweepScope
from librarian.contracts.why_not import WhyNotInput

NamespaceOption: TypeAlias = Annotated[
    str | None, typer.Option("--namespace", "-n", help="Default: LIBRARIAN_NAMESPACE.")
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AllOption: TypeAlias = Annotated[
    bool, typer.Option("--all", help="All pages, of --limit each; with --json one line for each.")
]
NoEmbedOption: TypeAlias = Annotated[bool, typer.Option("--no-embed", help="Leave the encoding to the service.")]
VersionOption: TypeAlias = Annotated[
    int | None, typer.Option("--if-version", help="Only if the item is still at this version.")
]
UidArgument: TypeAlias = Annotated[str, typer.Argument(metavar="UID", help="The item's uid, as searches show it.")]


@dataclass(frozen=True, slots=True)
class Given:
    """How one field is given: by an option where `name` begins with "-", by position otherwise.

    `read` makes the field's value of the text, or of all texts where there may be `many`.
    """

    name: str
    help: str
    type: Any = str
    many: bool = False
    required: bool = False
    short: str | None = None
    read: Callable[[Any, str], Any] | None = None

    def annotation(self) -> Any:
        """What typer makes a parameter of."""
        if self.name.startswith("-"):
            names = (self.name, self.short) if self.short else (self.name,)
            how: Any = typer.Option(*names, help=self.help, metavar=f"<{self.type.__name__}>" if self.many else None)
        else:
            how = typer.Argument(metavar=self.name, help=self.help)
        type_ = list[self.type] if self.many else self.type  # type: ignore[name-defined]  # made at run time
        return Annotated[type_ if self.required or self.type is bool else type_ | None, how]


_TIME = "2026-03-01 or a full ISO 8601 time"
_EDGE_TYPES = "CAUSES, BLOCKS, ENABLES or RELATES_TO"
_CURSOR = Given("--cursor", "Where the page before ended, with the same conditions.")
_PAGE = Given("--limit", "How many, 1 to 500; default 50.", type=int, short="-k")

Options: TypeAlias = Mapping[str, Given]

FILTERS: Options = {
    "kinds": Given("--kind", "message, fact, memory or file_chunk; may be repeated.", many=True),
    "types": Given(
        "--type",
        "Pattern, Decision, Problem, Insight, Exception, Reference or Unknown; may be repeated.",
        many=True,
    ),
    "authors": Given("--author", "Who wrote it; may be repeated.", many=True),
    "conversation_id": Given("--conversation", "Id of the conversation."),
    "session_id": Given("--session", "Id of the session."),
    "person_id": Given("--person", "Id of the person that facts are about."),
    "domain": Given("--domain", "Domain."),
    "tags": Given("--tag", "A tag; may be repeated: all must be there.", many=True),
    "agent": Given("--agent", "The agent that keeps the memory."),
    "path_prefix": Given("--path-prefix", "Start of a file's path."),
    "occurred_from": Given("--from", f"When it happened at the earliest: {_TIME}.", read=moment),
    "occurred_to": Given("--to", "The last day or moment.", read=last_moment),
    "as_of": Given("--as-of", "Keep facts that were valid then.", read=moment),
}

_CORRECTION: Options = {
    "text": Given("--text", "The new text; - reads standard input.", read=text_or_stdin),
    "subject": Given("--subject", "Who or what the fact is about."),
    "predicate": Given("--predicate", "What is said of it."),
    "object": Given("--object", "The fact's other end."),
    "attributes": Given("--attribute", "name=value; may be repeated.", many=True, read=pairs),
    "confidence": Given("--confidence", "How sure, 0 to 1.", type=float),
    "valid_from": Given("--valid-from", f"Since when it is true; default: now. {_TIME}.", read=moment),
    "evidence": Given("--evidence", "Uid or message id of what supports it; may be repeated.", many=True),
    "reason": Given("--reason", "Why; kept in the history."),
}

_QUESTION: Options = {
    "query": Given("QUESTION", "The question.", required=True),
    "max_hits": Given("--max-hits", "How many hits, 1 to 50; default 30.", type=int, short="-k"),
    "answer_over_question": Given(
        "--answer-over-question",
        "yes (default): what tells before what asks; no: the order of the search.",
        read=yes_no,
    ),
}

_SEARCH: Options = {
    "queries": Given("QUERY", "One query, or several fused into one list.", many=True, required=True),
    "limit": Given("--limit", "How many hits, 1 to 50; default 10.", type=int, short="-k"),
    **FILTERS,
    "similarity_threshold": Given("--threshold", "Drop hits less similar, 0 to 1.", type=float),
    "adaptive_threshold": Given(
        "--adaptive", "yes: lower the threshold until enough hits pass; no (default).", read=yes_no
    ),
    "adaptive_threshold_max": Given("--adaptive-max", "Where an adaptive threshold starts; default .75.", type=float),
    "adaptive_threshold_min": Given("--adaptive-min", "Where it ends; default .35.", type=float),
    "fusion_method": Given("--fusion", "How rankings become one: linear (default), rrf, score_sum or score_max."),
    "multi_query_boost": Given("--multi-query-boost", "Favour for what several queries find, 0 to 1.", type=float),
    "enable_reranking": Given(
        "--rerank", "yes (default): the reranker orders the best hits, if there is one; no.", read=yes_no
    ),
    "rerank_query": Given("--rerank-query", "What the reranker is asked; default: the first query."),
    "explain": Given("--explain", "Say why each hit stands where it stands.", type=bool),
}

_PROPOSED: Options = {
    "include_proposed": Given("--include-proposed", "Proposed edges too, which nobody has accepted.", type=bool),
}

_WALK: Options = {
    "uid": Given("UID", "The item that is asked about.", required=True),
    "types": Given("--type", f"{_EDGE_TYPES}; may be repeated.", many=True),
    "max_depth": Given("--max-depth", "How many edges away, 1 to 10; default 5.", type=int, short="-d"),
    "limit": Given("--limit", "How many items, 1 to 500; default 50.", type=int, short="-k"),
    **_PROPOSED,
    "occurred_from": FILTERS["occurred_from"],
    "occurred_to": FILTERS["occurred_to"],
}

OPTIONS: Mapping[type[Struct], Options] = {
    AnswerInput: _QUESTION,
    RelevantInput: _QUESTION,
    SearchInput: _SEARCH,
    SemanticSearchInput: {
        **_SEARCH,
        "limit": Given("--limit", "How many hits, 1 to 50; default LIBRARIAN_MAX_FACTS.", type=int, short="-k"),
        "similarity_threshold": Given("--threshold", "Drop hits less similar, 0 to 1; none adapts.", type=float),
        "adaptive_threshold": Given(
            "--adaptive", "yes (default without --threshold): lower it until enough hits pass; no.", read=yes_no
        ),
    },
    SweepScope: {
        "domains": Given("--domains", "Only memories of these domains, parted by commas.", read=comma_separated),
        "limit": Given("--limit", "Look at no more than this many memories, the oldest first.", type=int, short="-k"),
        "min_importance": Given("--min-importance", "Only memories of this importance or more, 1 to 10.", type=int),
        **FILTERS,
    },
    WhyNotInput: {
        "uid": Given("UID", "The item that the search was to find.", required=True),
        **_SEARCH,
        "queries": Given("--query", "What was searched for; may be repeated.", many=True, required=True, short="-q"),
    },
    FindFileInput: {
        "name": Given("NAME", "A path or its end, a file name, or words of it.", required=True),
        "limit": Given("--limit", "How many paths, 1 to 100; default 10.", type=int, short="-k"),
    },
    SearchTextInput: {
        "query": Given("TEXT", "What to look for in lines.", required=True),
        "regex": Given("--regex", "TEXT is a regular expression, in the syntax of RE2.", type=bool, short="-e"),
        "ignore_case": Given("--ignore-case", "Capital and small letters are the same.", type=bool, short="-i"),
        "word": Given("--word", "Whole words only.", type=bool, short="-w"),
        "globs": Given("--glob", "Only such files: '*.py', 'src/**', or '!tests/**'; may be repeated.", many=True),
        "languages": Given("--language", "Only files in this language; may be repeated.", many=True),
        "context": Given("--context", "Lines around each hit, 0 to 20; default 0.", type=int, short="-C"),
        "limit": Given("--limit", "How many lines, 1 to 1000; default 50.", type=int, short="-k"),
    },
    LocateInput: {
        "query": Given("QUERY", "A path, a name, words in quotation marks, or a question.", required=True),
        "limit": Given("--limit", "How many of each, 1 to 100; default 10.", type=int, short="-k"),
    },
    StaleQuery: {
        "limit": Given("--limit", "How many, 1 to 1000; default 100.", type=int, short="-k"),
    },
    ItemQuery: {
        **FILTERS,
        "order": Given("--order", "newest (default) or oldest first, by when they were stored."),
        "limit": _PAGE,
        "cursor": _CURSOR,
    },
    DeleteInput: {
        "uids": Given("UID", "Uids of the items; with filters, both must hold.", many=True),
        **FILTERS,
        "confirm_token": Given("--confirm", "Delete what the preview with this token showed."),
    },
    RememberInput: {
        "text": Given("TEXT", "What to keep; - reads standard input.", read=text_or_stdin),
        "kind": Given("--kind", "memory (default) or fact."),
        "uid": Given("--uid", "A stable id of yours; default: made from the content."),
        "domain": FILTERS["domain"],
        "tags": Given("--tag", "A tag; may be repeated.", many=True),
        "type": Given("--type", "Of a memory: Pattern, Decision, Problem, Insight, Exception, Reference or Unknown."),
        "importance": Given("--importance", "Of a memory, 1 to 10.", type=int),
        "agent": FILTERS["agent"],
        "source": Given("--source", "Where the memory comes from."),
        "occurred_at": Given("--at", f"When it happened: {_TIME}.", read=moment),
        "subject": Given("--subject", "Of a fact: who or what it is about."),
        "predicate": Given("--predicate", "Of a fact: what is said of it."),
        "object": Given("--object", "Of a fact: its other end."),
        "person_id": FILTERS["person_id"],
        "fact_type": Given("--fact-type", "Of a fact: its type, such as preference."),
        "confidence": Given("--confidence", "Of a fact: how sure, 0 to 1.", type=float),
        "valid_from": Given("--valid-from", f"Of a fact: since when it is true. {_TIME}.", read=moment),
        "valid_to": Given("--valid-to", "Of a fact: until when it is true.", read=moment),
        "evidence": _CORRECTION["evidence"],
    },
    CorrectInput: {"uid": Given("UID", "The fact or memory that is wrong.", required=True), **_CORRECTION},
    FindEvidenceInput: {
        "question": Given("--question", "What is asked.", required=True, short="-q"),
        "target_items": Given(
            "--target", "What the evidence has to show, such as formula; may be repeated.", many=True, required=True
        ),
        "max_retries": Given("--max-retries", "How often the search is refined, 0 to 20; default 3.", type=int),
        "intent": Given("--intent", "What sort of answer is wanted."),
        "context": Given("--context", "Where the question was asked: a lecture, a document, a topic."),
        "stop_conditions": Given("--stop", "When enough is found, in words."),
    },
    LinkInput: {
        "source": Given("SOURCE", "Uid of the item that the edge leaves.", required=True),
        "type": Given("TYPE", f"{_EDGE_TYPES}.", required=True),
        "target": Given("TARGET", "Uid of the item that the edge enters.", required=True),
        "confidence": Given("--confidence", "How sure, 0 to 1; default 1.", type=float),
        "reason": Given("--reason", "Why."),
        "source_quote": Given("--source-quote", "Where the source shows it."),
        "target_quote": Given("--target-quote", "Where the target shows it."),
    },
    UnlinkInput: {
        "edge_id": Given("EDGE_ID", "As `librarian edges` shows it."),
        "source": Given("SOURCE", "Uid of the item that the edge leaves."),
        "type": Given("TYPE", f"{_EDGE_TYPES}."),
        "target": Given("TARGET", "Uid of the item that the edge enters."),
    },
    CausalInput: {
        **_WALK,
        "types": Given("--type", "CAUSES, BLOCKS or ENABLES instead of what it is about; may be repeated.", many=True),
    },
    NeighbourhoodQuery: {
        **_WALK,
        "max_depth": Given("--max-depth", "How many edges away, 1 to 10; default 2.", type=int, short="-d"),
    },
    PathQuery: {
        "source": Given("SOURCE", "Uid of the item where the path begins.", required=True),
        "target": Given("TARGET", "Uid of the item where it ends.", required=True),
        **{field: how for field, how in _WALK.items() if field not in ("uid", "limit")},
        "max_depth": Given("--max-depth", "How many edges at most, 1 to 10; default 6.", type=int, short="-d"),
        "directed": Given("--directed", "Only the way that edges point.", type=bool),
    },
    ContradictionQuery: {
        "person_id": FILTERS["person_id"],
        "as_of": Given("--as-of", "Only facts that were valid then.", read=moment),
        "limit": Given("--limit", "How many of each sort, 1 to 500; default 50.", type=int, short="-k"),
        **_PROPOSED,
    },
    CycleQuery: {
        "types": Given("--type", "CAUSES, BLOCKS or ENABLES; may be repeated.", many=True),
        "limit": Given("--limit", "How many, 1 to 500; default 50.", type=int, short="-k"),
        **_PROPOSED,
    },
    ReviewQuery: {
        "sorts": Given("--sort", "edge, flag or merge; may be repeated.", many=True),
        "states": Given("--state", "open (default), unreviewed, accepted or rejected; may be repeated.", many=True),
        "limit": _PAGE,
        "cursor": _CURSOR,
    },
    ReviewInput: {
        "verdict": Given("VERDICT", "accept or reject.", required=True),
        "reason": Given("--reason", "Why; kept with the decision."),
        "type": Given("--type", "Of a flagged memory, if another than the sweep proposes."),
    },
    EdgeQuery: {
        "uid": Given("--uid", "Uid of either end."),
        "source": Given("--source", "Uid of the item that the edge leaves."),
        "target": Given("--target", "Uid of the item that the edge enters."),
        "types": Given("--type", f"{_EDGE_TYPES}; may be repeated.", many=True),
        "states": Given("--state", "accepted, proposed or rejected; may be repeated.", many=True),
        "methods": Given("--method", "rule, llm or human; may be repeated.", many=True),
        "limit": _PAGE,
        "cursor": _CURSOR,
    },
}
"""Contract -> its fields (those of nested `filters` among them) -> how each is given."""
