"""The command-line form of each contract: one entry per field, in the order of the help.

`@takes(Contract)` gives a command the struct; msgspec checks it, and errors name the option.
"""

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import typer
from msgspec import Struct

from librarian.base.errors import InvalidInput, LibrarianError
from librarian.base.strictjson import convert
from librarian.cli.runtime import finished
from librarian.cli.values import at_most, comma_separated, last_moment, moment, pairs, text_or_stdin, utf8, yes_no

if TYPE_CHECKING:
    from librarian.client import errors

S = TypeVar("S", bound=Struct)

_NAMES_IN_PATH = re.compile(r"\w+")

NamespaceOption: TypeAlias = Annotated[
    str | None, typer.Option("--namespace", "-n", help="Default: LIBRARIAN_NAMESPACE.")
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AllOption: TypeAlias = Annotated[
    bool, typer.Option("--all", help="All pages, of --limit each; with --json one line per entry.")
]
NoEmbedOption: TypeAlias = Annotated[bool, typer.Option("--no-embed", help="Leave the encoding to the service.")]
EvenIfForgottenOption: TypeAlias = Annotated[
    bool, typer.Option("--even-if-forgotten", help="Also store forgotten items and lift their tombstones.")
]
VersionOption: TypeAlias = Annotated[
    int | None, typer.Option("--if-version", help="Only if the item is still at this version.")
]
UidArgument: TypeAlias = Annotated[str, typer.Argument(metavar="UID", help="The item's uid, as shown by searches.")]


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """The command-line form of one field: an option if `name` begins with "-", else a positional argument.

    `read` takes the text (or list of texts, if `many`) and the option's name, and returns the field's value.
    """

    name: str
    help: str
    type: Any = str
    many: bool = False
    required: bool = False
    short: str | None = None
    read: Callable[[Any, str], Any] | None = None

    def annotation(self) -> Any:
        """Return the annotation of a parameter, for typer."""
        if self.name.startswith("-"):
            names = (self.name, self.short) if self.short else (self.name,)
            how: Any = typer.Option(*names, help=self.help, metavar=f"<{self.type.__name__}>" if self.many else None)
        else:
            how = typer.Argument(metavar=self.name, help=self.help)
        type_ = list[self.type] if self.many else self.type  # type: ignore[name-defined]  # made at run time
        return Annotated[type_ if self.required or self.type is bool else type_ | None, how]


_TIME = "2026-03-01 or a full ISO 8601 time"
_EDGE_TYPES = "CAUSES, BLOCKS, ENABLES or RELATES_TO"
_CURSOR = OptionSpec("--cursor", "Cursor of the previous page, with the same conditions.")
_PAGE = OptionSpec("--limit", "How many, 1 to 500; default 50.", type=int, short="-k")

Options: TypeAlias = Mapping[str, OptionSpec]

FILTERS: Options = {
    "kinds": OptionSpec("--kind", "message, fact, memory or file_chunk; may be repeated.", many=True),
    "types": OptionSpec(
        "--type",
        "Pattern, Decision, Problem, Insight, Exception, Reference or Unknown; may be repeated.",
        many=True,
    ),
    "authors": OptionSpec("--author", "Who wrote it; may be repeated.", many=True),
    "conversation_id": OptionSpec("--conversation", "Id of the conversation."),
    "session_id": OptionSpec("--session", "Id of the session."),
    "person_id": OptionSpec("--person", "Id of the person that facts are about."),
    "domain": OptionSpec("--domain", "Domain."),
    "tags": OptionSpec("--tag", "A tag; may be repeated: all must match.", many=True),
    "agent": OptionSpec("--agent", "The agent that keeps the memory."),
    "path_prefix": OptionSpec("--path-prefix", "Start of a file's path."),
    "occurred_from": OptionSpec("--from", f"Earliest time: {_TIME}.", read=moment),
    "occurred_to": OptionSpec("--to", "The last day or moment.", read=last_moment),
    "as_of": OptionSpec("--as-of", "Only what was true then: facts valid then, and earlier events.", read=moment),
    "known_at": OptionSpec("--known-at", "Only what was stored by then, in its wording of that time.", read=moment),
    "expired": OptionSpec("--expired", "Include expired items.", type=bool),
    "resembling": OptionSpec("--resembling", "Only items that may restate something forgotten.", type=bool),
}

_CORRECTION: Options = {
    "text": OptionSpec("--text", "The new text; - reads standard input.", read=text_or_stdin),
    "subject": OptionSpec("--subject", "Who or what the fact is about."),
    "predicate": OptionSpec("--predicate", "The relation, such as 'lives in'."),
    "object": OptionSpec("--object", "The fact's object."),
    "attributes": OptionSpec("--attribute", "name=value; may be repeated.", many=True, read=pairs),
    "confidence": OptionSpec("--confidence", "How sure, 0 to 1.", type=float),
    "valid_from": OptionSpec("--valid-from", f"Since when it is true; default: now. {_TIME}.", read=moment),
    "evidence": OptionSpec("--evidence", "Uid or message id of its evidence; may be repeated.", many=True),
    "reason": OptionSpec("--reason", "Why; kept in the history."),
}

_MOST_HITS = 50
_HITS = at_most(
    _MOST_HITS, f"Ask for {_MOST_HITS}, and narrow the search (--kind, --author, --from, --to) to see others."
)

_NOW: Options = {
    "now": OptionSpec(
        "--now", f"Reference time for words such as yesterday; default: the clock. {_TIME}.", read=moment
    ),
}

_MOMENTS: Options = {name: FILTERS[name] for name in ("as_of", "known_at")}

_QUESTION: Options = {
    "query": OptionSpec("QUESTION", "The question.", required=True),
    "max_hits": OptionSpec(
        "--max-hits",
        "How many hits, 1 to 50; default 30.",
        type=int,
        short="-k",
        read=at_most(_MOST_HITS, f"Ask for {_MOST_HITS}, or something narrower; `librarian search` takes filters."),
    ),
    "answer_over_question": OptionSpec(
        "--answer-over-question",
        "yes (default): statements before questions; no: the order of the search.",
        read=yes_no,
    ),
    **_NOW,
    **_MOMENTS,
}

_SEARCH: Options = {
    "queries": OptionSpec("QUERY", "One query, or several fused into one list.", many=True, required=True),
    "limit": OptionSpec("--limit", "How many hits, 1 to 50; default 10.", type=int, short="-k", read=_HITS),
    **FILTERS,
    "similarity_threshold": OptionSpec("--threshold", "Drop hits less similar, 0 to 1.", type=float),
    "adaptive_threshold": OptionSpec(
        "--adaptive", "yes: lower the threshold until enough hits pass; no (default).", read=yes_no
    ),
    "adaptive_threshold_max": OptionSpec(
        "--adaptive-max", "Where an adaptive threshold starts; default .75.", type=float
    ),
    "adaptive_threshold_min": OptionSpec("--adaptive-min", "Where it ends; default .35.", type=float),
    "fusion_method": OptionSpec("--fusion", "How rankings become one: linear (default), rrf, score_sum or score_max."),
    "multi_query_boost": OptionSpec(
        "--multi-query-boost", "Bonus for items that several queries find, 0 to 1.", type=float
    ),
    "enable_reranking": OptionSpec(
        "--rerank", "yes (default): the reranker orders the best hits, if there is one; no.", read=yes_no
    ),
    "rerank_query": OptionSpec("--rerank-query", "Query for the reranker; default: the first query."),
    **_NOW,
    "explain": OptionSpec("--explain", "Explain the rank of each hit.", type=bool),
}

_NAMESPACES: Options = {
    "namespaces": OptionSpec("--in", "Search this namespace instead; repeated: all of them together.", many=True),
}

_PROPOSED: Options = {
    "include_proposed": OptionSpec("--include-proposed", "Also proposed edges that are not accepted yet.", type=bool),
}

_WALK: Options = {
    "uid": OptionSpec("UID", "The item in question.", required=True),
    "types": OptionSpec("--type", f"{_EDGE_TYPES}; may be repeated.", many=True),
    "max_depth": OptionSpec("--max-depth", "How many edges away, 1 to 10; default 5.", type=int, short="-d"),
    "limit": OptionSpec("--limit", "How many items, 1 to 500; default 50.", type=int, short="-k"),
    **_PROPOSED,
    "occurred_from": FILTERS["occurred_from"],
    "occurred_to": FILTERS["occurred_to"],
}

OPTIONS: Mapping[str, Options] = {
    "AnswerInput": _QUESTION,
    "ContextInput": {
        "query": OptionSpec("QUESTION", "The question.", required=True),
        "max_tokens": OptionSpec("--max-tokens", "Maximum number of tokens; default 2000.", type=int),
        **_NOW,
        **_MOMENTS,
    },
    "RelevantInput": _QUESTION,
    "Moments": _MOMENTS,
    "SearchInput": {**_SEARCH, **_NAMESPACES},
    "SemanticSearchInput": {
        **_SEARCH,
        "limit": OptionSpec(
            "--limit", "How many hits, 1 to 50; default LIBRARIAN_MAX_FACTS.", type=int, short="-k", read=_HITS
        ),
        "similarity_threshold": OptionSpec("--threshold", "Drop hits less similar, 0 to 1; none adapts.", type=float),
        "adaptive_threshold": OptionSpec(
            "--adaptive", "yes (default without --threshold): lower it until enough hits pass; no.", read=yes_no
        ),
    },
    "SweepScope": {
        "domains": OptionSpec("--domains", "Only memories of these domains, comma-separated.", read=comma_separated),
        "limit": OptionSpec("--limit", "Read at most this many memories, oldest first.", type=int, short="-k"),
        "min_importance": OptionSpec(
            "--min-importance", "Only memories of this importance or more, 1 to 10.", type=int
        ),
        **FILTERS,
    },
    "WhyNotInput": {
        "uid": OptionSpec("UID", "The item that the search should have found.", required=True),
        **_SEARCH,
        **_NAMESPACES,
        "queries": OptionSpec("QUERY", "The query or queries of the search.", many=True, required=True),
    },
    "FindFileInput": {
        "name": OptionSpec("NAME", "A path or its end, a file name, or words of it.", required=True),
        "limit": OptionSpec("--limit", "How many paths, 1 to 100; default 10.", type=int, short="-k"),
    },
    "SearchTextInput": {
        "query": OptionSpec("TEXT", "The text to find in lines.", required=True),
        "regex": OptionSpec("--regex", "TEXT is a regular expression, in the syntax of RE2.", type=bool, short="-e"),
        "ignore_case": OptionSpec("--ignore-case", "Ignore upper and lower case.", type=bool, short="-i"),
        "word": OptionSpec("--word", "Whole words only.", type=bool, short="-w"),
        "globs": OptionSpec(
            "--glob", "Only matching files: '*.py', 'src/**', or '!tests/**'; may be repeated.", many=True
        ),
        "languages": OptionSpec("--language", "Only files in this language; may be repeated.", many=True),
        "context": OptionSpec("--context", "Lines around each hit, 0 to 20; default 0.", type=int, short="-C"),
        "limit": OptionSpec("--limit", "How many lines, 1 to 1000; default 50.", type=int, short="-k"),
        "cursor": _CURSOR,
    },
    "LocateInput": {
        "query": OptionSpec("QUERY", "A path, a name, words in quotation marks, or a question.", required=True),
        "limit": OptionSpec("--limit", "How many of each, 1 to 100; default 10.", type=int, short="-k"),
    },
    "StaleQuery": {
        "limit": OptionSpec("--limit", "How many, 1 to 1000; default 100.", type=int, short="-k"),
    },
    "ItemQuery": {
        **FILTERS,
        "order": OptionSpec(
            "--order", "newest (default) or oldest first, by when they were stored; latest: by when they happened."
        ),
        "limit": _PAGE,
        "cursor": _CURSOR,
    },
    "DeleteInput": {
        "uids": OptionSpec("UID", "Uids of the items; with filters, both must hold.", many=True),
        **FILTERS,
        "confirm_token": OptionSpec("--confirm", "Delete what the preview with this token showed."),
    },
    "ChangeQuery": {
        "after": OptionSpec("--after", "Changes after this cursor; 0 is the beginning."),
        "limit": OptionSpec("--limit", "How many at once, 1 to 500; default 100.", type=int, short="-k"),
    },
    "WebhookIn": {
        "url": OptionSpec("URL", "Address to send changes to: https, not private."),
        "kinds": OptionSpec("--kind", "Only changes of this kind of thing; may be repeated. Default: all.", many=True),
    },
    "ForgottenQuery": {"limit": _PAGE, "cursor": _CURSOR},
    "LiftInput": {
        "uids": OptionSpec("UID", "Uids of the forgotten items.", many=True),
        "tombstone_ids": OptionSpec("--tombstone", "Id of a tombstone; may be repeated.", many=True),
    },
    "RememberInput": {
        "text": OptionSpec("TEXT", "What to keep; - reads standard input.", read=text_or_stdin),
        "kind": OptionSpec("--kind", "memory (default) or fact."),
        "uid": OptionSpec("--uid", "Your own stable id; default: derived from the content."),
        "domain": FILTERS["domain"],
        "tags": OptionSpec("--tag", "A tag; may be repeated.", many=True),
        "expires_at": OptionSpec("--expires", f"When it expires: {_TIME}.", read=moment),
        "pinned": OptionSpec("--pin", "Keep it regardless of retention rules.", type=bool),
        "type": OptionSpec(
            "--type", "Of a memory: Pattern, Decision, Problem, Insight, Exception, Reference or Unknown."
        ),
        "importance": OptionSpec("--importance", "Of a memory, 1 to 10.", type=int),
        "agent": FILTERS["agent"],
        "source": OptionSpec("--source", "Where the memory comes from."),
        "occurred_at": OptionSpec("--at", f"When it happened: {_TIME}.", read=moment),
        "subject": OptionSpec("--subject", "Of a fact: who or what it is about."),
        "predicate": OptionSpec("--predicate", "Of a fact: the relation, such as 'lives in'."),
        "object": OptionSpec("--object", "Of a fact: its object."),
        "person_id": FILTERS["person_id"],
        "fact_type": OptionSpec("--fact-type", "Of a fact: its type, such as preference."),
        "confidence": OptionSpec("--confidence", "Of a fact: how sure, 0 to 1.", type=float),
        "valid_from": OptionSpec("--valid-from", f"Of a fact: since when it is true. {_TIME}.", read=moment),
        "valid_to": OptionSpec("--valid-to", "Of a fact: until when it is true.", read=moment),
        "evidence": _CORRECTION["evidence"],
    },
    "CorrectInput": {"uid": OptionSpec("UID", "The fact or memory that is wrong.", required=True), **_CORRECTION},
    "ImpactInput": {"uid": OptionSpec("UID", "The item to correct or forget.", required=True)},
    "FindEvidenceInput": {
        "question": OptionSpec("--question", "The question.", required=True, short="-q"),
        "target_items": OptionSpec(
            "--target", "What the evidence has to show, such as formula; may be repeated.", many=True, required=True
        ),
        "max_retries": OptionSpec("--max-retries", "How often the search is refined, 0 to 20; default 3.", type=int),
        "intent": OptionSpec("--intent", "The kind of answer wanted."),
        "context": OptionSpec("--context", "Where the question was asked: a lecture, a document, a topic."),
        "stop_conditions": OptionSpec("--stop", "When to stop, in words."),
    },
    "LinkInput": {
        "source": OptionSpec("SOURCE", "Uid of the item that the edge leaves.", required=True),
        "type": OptionSpec("TYPE", f"{_EDGE_TYPES}.", required=True),
        "target": OptionSpec("TARGET", "Uid of the item that the edge enters.", required=True),
        "confidence": OptionSpec("--confidence", "How sure, 0 to 1; default 1.", type=float),
        "reason": OptionSpec("--reason", "Why."),
        "source_quote": OptionSpec("--source-quote", "Where the source shows it."),
        "target_quote": OptionSpec("--target-quote", "Where the target shows it."),
    },
    "UnlinkInput": {
        "edge_id": OptionSpec("EDGE_ID", "The edge's id, from `librarian edges`."),
        "source": OptionSpec("SOURCE", "Uid of the item that the edge leaves."),
        "type": OptionSpec("TYPE", f"{_EDGE_TYPES}."),
        "target": OptionSpec("TARGET", "Uid of the item that the edge enters."),
    },
    "CausalInput": {
        **_WALK,
        "types": OptionSpec(
            "--type", "CAUSES, BLOCKS or ENABLES instead of the question's own types; may be repeated.", many=True
        ),
    },
    "NeighbourhoodQuery": {
        **_WALK,
        "max_depth": OptionSpec("--max-depth", "How many edges away, 1 to 10; default 2.", type=int, short="-d"),
    },
    "PathQuery": {
        "source": OptionSpec("SOURCE", "Uid of the item where the path begins.", required=True),
        "target": OptionSpec("TARGET", "Uid of the item where it ends.", required=True),
        **{field: spec for field, spec in _WALK.items() if field not in ("uid", "limit")},
        "max_depth": OptionSpec("--max-depth", "How many edges at most, 1 to 10; default 6.", type=int, short="-d"),
        "directed": OptionSpec("--directed", "Only in the direction of the edges.", type=bool),
    },
    "ContradictionQuery": {
        "person_id": FILTERS["person_id"],
        "as_of": OptionSpec("--as-of", "Only facts that were valid then.", read=moment),
        "limit": OptionSpec("--limit", "How many of each kind, 1 to 500; default 50.", type=int, short="-k"),
        **_PROPOSED,
    },
    "CycleQuery": {
        "types": OptionSpec("--type", "CAUSES, BLOCKS or ENABLES; may be repeated.", many=True),
        "limit": OptionSpec("--limit", "How many, 1 to 500; default 50.", type=int, short="-k"),
        **_PROPOSED,
    },
    "ReviewQuery": {
        "sorts": OptionSpec("--sort", "edge, supersede, flag, merge or fact; may be repeated.", many=True),
        "states": OptionSpec(
            "--state", "open (default), unreviewed, accepted or rejected; may be repeated.", many=True
        ),
        "because": OptionSpec("--because", "Start of the proposal's reason, as shown by `review reasons`."),
        "limit": _PAGE,
        "cursor": _CURSOR,
    },
    "ReviewInput": {
        "verdict": OptionSpec("VERDICT", "accept or reject.", required=True),
        "reason": OptionSpec("--reason", "Why; kept with the decision."),
        "type": OptionSpec("--type", "Type for a flagged memory, if not the proposed one."),
        "revise": OptionSpec("--revise", "Change an earlier decision; takes a reason.", type=bool),
    },
    "ReviewManyInput": {
        "verdict": OptionSpec("VERDICT", "accept or reject.", required=True),
        "because": OptionSpec(
            "--because", "Start of the proposals' reason, as shown by `review reasons`.", required=True
        ),
        "sorts": OptionSpec("--sort", "Only edge, supersede, flag, merge or fact; may be repeated.", many=True),
        "states": OptionSpec("--state", "open (default) or unreviewed; may be repeated.", many=True),
        "reason": OptionSpec("--reason", "Why; kept with each decision."),
        "confirm_token": OptionSpec("--confirm", "Decide what the preview with this token showed."),
    },
    "EdgeQuery": {
        "uid": OptionSpec("--uid", "Uid of either end."),
        "source": OptionSpec("--source", "Uid of the item that the edge leaves."),
        "target": OptionSpec("--target", "Uid of the item that the edge enters."),
        "types": OptionSpec("--type", f"{_EDGE_TYPES}; may be repeated.", many=True),
        "states": OptionSpec("--state", "accepted, proposed or rejected; may be repeated.", many=True),
        "methods": OptionSpec("--method", "rule, llm or human; may be repeated.", many=True),
        "limit": _PAGE,
        "cursor": _CURSOR,
    },
}
"""Contract name -> its fields (including those of nested `filters`) -> their command-line form."""


def takes(contract: type[Struct]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command's first parameter a struct of `contract`, which typer sees as the options of its fields."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def flat(**values: Any) -> None:
            fields = {field: values.pop(field) for field in OPTIONS[contract.__name__]}
            command(finished(lambda: struct_of(contract, fields)), **values)

        flat.__signature__ = _signature(command, contract)  # type: ignore[attr-defined]  # what inspect looks for
        return flat

    return decorate


def struct_of(contract: type[S], values: Mapping[str, Any]) -> S:
    """Return the struct of the given values; None, False and [] mean that an option was omitted.

    Raises InvalidInput, which names the option.
    """
    fields: dict[str, Any] = {}
    for field, spec in OPTIONS[contract.__name__].items():
        value = values.get(field)
        if value is None or value is False or value == []:
            continue
        of = fields.setdefault("filters", {}) if _is_nested(field, contract) else fields
        for text in value if spec.many else [str(value)]:
            utf8(text, spec.name)
        of[field] = value if spec.read is None else spec.read(value, spec.name)
    try:
        return convert(fields, contract)
    except InvalidInput as error:
        named = name_option(error, contract)
        error.remedy = (named.help if named else None) or error.remedy
        raise


def name_option(error: "LibrarianError | errors.ApiError", contract: type[Struct]) -> OptionSpec | None:
    """Make the error name the option instead of the contract's field, or nothing if it concerns no single one.

    Returns that option's specification.
    """
    fields = _NAMES_IN_PATH.findall(error.field or "")
    specs = OPTIONS[contract.__name__]
    spec = next((specs[field] for field in reversed(fields) if field in specs), None)
    error.field = spec.name if spec else None
    return spec


def _is_nested(field: str, contract: type[Struct]) -> bool:
    return field in FILTERS and field not in contract.__struct_fields__


def _signature(command: Callable[..., None], contract: type[Struct]) -> inspect.Signature:
    _struct, *own = inspect.signature(command, eval_str=True).parameters.values()
    fields = [
        inspect.Parameter(
            field,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if spec.required else False if spec.type is bool else None,
            annotation=spec.annotation(),
        )
        for field, spec in OPTIONS[contract.__name__].items()
    ]
    return inspect.Signature([*fields, *(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own)])
