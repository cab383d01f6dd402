"""Examples of what is sent and answered, for the OpenAPI document and the documentation. A test reads each one.

One story: a deploy that failed, what its team remembers of it, and a meeting in Japanese.
"""

from collections.abc import Mapping
from typing import Any

from librarian.contracts.answer import AnswerInput, AnswerOutput
from librarian.contracts.changes import (
    CorrectInput,
    Correction,
    CorrectOutput,
    DeleteCounts,
    DeleteInput,
    DeleteOutput,
    PutOutput,
    RememberInput,
    RevisionList,
)
from librarian.contracts.edges import EdgeList, EdgeOut, LinkOutput, UnlinkInput
from librarian.contracts.items import IngestReport, ItemIn, ItemOut, LinkInput, RowsIn
from librarian.contracts.listing import ItemList
from librarian.contracts.namespaces import DeleteNamespaceInput, NamespaceList
from librarian.contracts.patch import ItemPatch
from librarian.contracts.relevant import RelevantInput, RelevantOutput
from librarian.contracts.search import SearchInput, SearchOutput
from librarian.contracts.service import Health, Readiness
from librarian.contracts.tools import ToolList

Examples = Mapping[str, Any]

_MESSAGE = {
    "kind": "message",
    "message_id": "deploy-9",
    "conversation_id": "deploy",
    "position": 9,
    "author": "Kenji Mori",
    "sent_at": "2026-02-18T05:22:00Z",
    "text": "Migration finished, pods are ready, the 503s are gone. 16 minutes in total.",
}
_FACT = {
    "kind": "fact",
    "uid": "fact-deploy-outcome",
    "subject": "deploy of harbor-api 2026.2.3",
    "predicate": "was rolled back after",
    "object": "16 minutes",
    "domain": "deploys",
    "tags": ["HRB-412"],
    "valid_from": "2026-02-18T05:06:00Z",
    "evidence": ["deploy-9"],
}
_MEMORY = {
    "kind": "memory",
    "uid": "mem-chart-cleanup",
    "name": "Chart clean-up lost two lines",
    "text": "The chart clean-up HRB-398 lost the CronJob's timeZone and the migration's lock_timeout.",
    "type": "Problem",
    "importance": 9,
    "domain": "deploys",
    "tags": ["HRB-398", "HRB-412"],
    "agent": "oncall-helper",
    "occurred_at": "2026-02-18T11:40:00Z",
}
_EDGE = {
    "source": "mem-chart-cleanup",
    "type": "CAUSES",
    "target": "fact-deploy-outcome",
    "reason": "Without the lock timeout the migration waited behind the report.",
    "source_quote": "the migration's lock_timeout",
}
_JAPANESE = {
    "kind": "memory",
    "text": "会議で決定：毎日のレポートは日本時間の午前5時に実行する。",
    "type": "Decision",
    "tags": ["会議", "レポート"],
    "occurred_at": "2026-02-19T10:30:00+09:00",
}

_EVIDENCE = {
    "uid": "m-eb6bb1799e9b84510a35c3c9",
    "message_id": "deploy-9",
    "author_name": "Kenji Mori",
    "content": _MESSAGE["text"],
    "sent_at": "2026-02-18T05:22:00Z",
}
_STORED_FACT = {
    "uid": "fact-deploy-outcome",
    "kind": "fact",
    "namespace": "team:harbor",
    "name": "deploy of harbor-api 2026.2.3 was rolled back after 16 minut",
    "text": "deploy of harbor-api 2026.2.3 was rolled back after 16 minutes",
    "occurred_at": "2026-02-18T05:06:00Z",
    "created_at": "2026-02-18T12:00:00.125Z",
    "version": 1,
    "properties": {
        "subject": "deploy of harbor-api 2026.2.3",
        "predicate": "was rolled back after",
        "object": "16 minutes",
        "domain": "deploys",
        "tags": ["HRB-412"],
        "valid_from": "2026-02-18T05:06:00Z",
    },
    "evidence": [_EVIDENCE],
}
_STORED_MEMORY = {
    "uid": "mem-chart-cleanup",
    "kind": "memory",
    "namespace": "team:harbor",
    "name": "Chart clean-up lost two lines",
    "text": _MEMORY["text"],
    "occurred_at": "2026-02-18T11:40:00Z",
    "created_at": "2026-02-18T12:00:00.125Z",
    "version": 2,
    "properties": {"type": "Problem", "importance": 10, "domain": "deploys", "tags": ["HRB-398", "HRB-412"]},
    "evidence": [],
}
_STORED_EDGE = {
    **_EDGE,
    "edge_id": "1f0c2a9be47d5a6630c19b82",
    "state": "accepted",
    "method": "human",
    "confidence": 1.0,
    "target_quote": None,
    "run_id": None,
    "created_at": "2026-02-18T12:03:00Z",
    "reviewed_by": None,
    "reviewed_at": None,
    "model": None,
    "prompt_version": None,
}
_TOKEN = "8c1f6f0e7b0d4a52b6a1d1f5a0f3c7e9"  # noqa: S105 - it confirms a preview and opens nothing
_COUNTS = {"items": 2, "by_kind": {"fact": 1, "memory": 1}, "edges": 1, "evidence_links": 1, "revisions": 1}
_SAMPLE = [
    {"uid": "mem-chart-cleanup", "kind": "memory", "name": "Chart clean-up lost two lines"},
    {
        "uid": "fact-deploy-outcome",
        "kind": "fact",
        "name": "deploy of harbor-api 2026.2.3 was rolled back after 16 minut",
    },
]
_PREVIEW = {"deleted": False, "counts": _COUNTS, "sample": _SAMPLE, "confirm_token": _TOKEN}
_DELETED = {"deleted": True, "counts": _COUNTS}
_FAULT = {"line": 2, "field": "$.txt", "code": "invalid_input", "message": "Object contains unknown field `txt`"}

_MEMORY_HIT = {
    "uid": "m-eb6bb1799e9b84510a35c3c9",
    "kind": "message",
    "content": _MESSAGE["text"],
    "score": 0.6312,
    "message_id": "deploy-9",
    "author_name": "Kenji Mori",
    "sent_at": "2026-02-18T05:22:00Z",
}

# By type; an answer with a status of its own has the pair.
EXAMPLES: Mapping[Any, Examples] = {
    # sent
    RowsIn: {
        "several rows": [_MESSAGE, _FACT, _MEMORY, {"kind": "edge", **_EDGE}],
        "one row, in Japanese": _JAPANESE,
    },
    ItemIn: {"a memory": _MEMORY, "a fact": _FACT},
    ItemPatch: {"more important, without a domain": {"importance": 10, "domain": None}},
    Correction: {"a fact that changed": {"object": "18 minutes", "reason": "The last pod was ready at 05:24."}},
    DeleteInput: {
        "preview": {"filters": {"kinds": ["memory"], "tags": ["HRB-398"]}},
        "delete what the preview showed": {
            "filters": {"kinds": ["memory"], "tags": ["HRB-398"]},
            "confirm_token": _TOKEN,
        },
    },
    DeleteNamespaceInput: {"preview": {}, "delete what the preview showed": {"confirm_token": _TOKEN}},
    SearchInput: {
        "one question": {"queries": ["why did the deploy fail?"], "limit": 5},
        "two wordings, filtered": {
            "queries": ["why did the deploy fail?", "HRB-412 root cause"],
            "filters": {"kinds": ["fact", "memory"], "occurred_from": "2026-02-01T00:00:00Z"},
            "explain": True,
        },
        "in Japanese": {"queries": ["レポートは何時に実行されますか？"], "limit": 3},
    },
    RelevantInput: {
        "one question": {"query": "how long did the rollback take?", "max_hits": 10},
        "in the order of the search": {"query": "rollback", "answer_over_question": False},
    },
    AnswerInput: {"one question": {"query": "how long did the rollback take?"}},
    LinkInput: {"a cause": _EDGE},
    UnlinkInput: {
        "by its ends": {"source": "mem-chart-cleanup", "type": "CAUSES", "target": "fact-deploy-outcome"},
        "by its id": {"edge_id": "1f0c2a9be47d5a6630c19b82"},
    },
    RememberInput: {
        "a decision, in Japanese": {key: value for key, value in _JAPANESE.items() if key != "kind"},
        "a fact with its evidence": {
            "kind": "fact",
            "subject": "Aiko Tanaka",
            "predicate": "leads",
            "object": "the Harbor team",
            "evidence": ["deploy-9"],
        },
    },
    CorrectInput: {"a fact that changed": {"uid": "fact-deploy-outcome", "object": "18 minutes"}},
    # answered
    IngestReport: {"all taken": {"added": 4, "pending_embeddings": 3}},
    (IngestReport, 207): {
        "one row is faulty": {"added": 3, "failed": 1, "pending_embeddings": 3, "errors": [_FAULT]},
    },
    (IngestReport, 422): {"no row was taken": {"failed": 1, "errors": [_FAULT]}},
    ItemOut: {"a fact with its evidence": _STORED_FACT, "a memory": _STORED_MEMORY},
    ItemList: {"the last page": {"items": [_STORED_MEMORY, _STORED_FACT], "next_cursor": None}},
    PutOutput: {"a new memory": {"outcome": "added", "item": {**_STORED_MEMORY, "version": 1}}},
    CorrectOutput: {
        "a new fact": {
            "item": {**_STORED_FACT, "uid": "f-5a0be7e31c86fd45ae07e1b6"},
            "superseded": "fact-deploy-outcome",
        }
    },
    DeleteCounts: {"what went": {"items": 1, "by_kind": {"memory": 1}, "edges": 1, "revisions": 1, "embeddings": 1}},
    DeleteOutput: {"preview": _PREVIEW, "deleted": _DELETED},
    RevisionList: {
        "one change": {
            "uid": "mem-chart-cleanup",
            "revisions": [
                {
                    "revision_id": "r-77d0c1",
                    "version": 1,
                    "name": "Chart clean-up lost two lines",
                    "text": _MEMORY["text"],
                    "properties": {"type": "Problem", "importance": 9},
                    "reason": "patch",
                    "actor": "k-4f1c",
                    "revised_at": "2026-02-18T12:10:00Z",
                }
            ],
        }
    },
    EdgeOut: {"a cause": _STORED_EDGE},
    LinkOutput: {"a new edge": {"created": True, "edge": _STORED_EDGE}},
    EdgeList: {"the last page": {"edges": [_STORED_EDGE], "next_cursor": None}},
    NamespaceList: {
        "one namespace": {
            "namespaces": [
                {"namespace": "team:harbor", "items": 2, "by_kind": {"fact": 1, "memory": 1}, "pending_embeddings": 0}
            ]
        }
    },
    SearchOutput: {
        "one hit": {
            "namespace": "team:harbor",
            "queries": ["why did the deploy fail?"],
            "results": [
                {
                    "uid": "fact-deploy-outcome",
                    "kind": "fact",
                    "score": 0.174825,
                    "similarity_score": 0.7046,
                    "content": _STORED_FACT["text"],
                    "occurred_at": "2026-02-18T05:06:00Z",
                    "domain": "deploys",
                    "tags": ["HRB-412"],
                    "valid_from": "2026-02-18T05:06:00Z",
                    "evidence": [_EVIDENCE],
                }
            ],
            "arms": {"vector": "ok", "keyword": "ok"},
            "reranked": False,
            "notes": [],
        }
    },
    RelevantOutput: {
        "one hit": {
            "namespace": "team:harbor",
            "query": "how long did the rollback take?",
            "hits": [_MEMORY_HIT],
            "arms": {"vector": "ok", "keyword": "ok"},
            "notes": [],
        }
    },
    AnswerOutput: {
        "with a language model": {
            "namespace": "team:harbor",
            "query": "how long did the rollback take?",
            "status": "answered",
            "method": "llm",
            "text": "It took 16 minutes in total [memory: m-eb6bb1799e9b84510a35c3c9].",
            "citations": [{"id": "m-eb6bb1799e9b84510a35c3c9", "uid": "m-eb6bb1799e9b84510a35c3c9"}],
            "hits": [_MEMORY_HIT],
            "model": "qwen3-8b",
        },
        "nothing to answer with": {
            "namespace": "team:harbor",
            "query": "who won the regatta?",
            "status": "refused",
            "method": "extractive",
            "text": "",
            "citations": [],
            "hits": [],
            "reason": "no hit is close enough to the question to support an answer",
        },
    },
    ToolList: {
        "for the Model Context Protocol, shortened": {
            "format": "mcp",
            "tools": [{"name": "unlink", "description": "Remove one connection, …", "inputSchema": {"type": "object"}}],
        }
    },
    Health: {"alive": {"status": "ok"}},
    Readiness: {
        "ready": {"ready": True, "phase": "ready", "checks": {"graph": "ok", "encoder": "ok"}},
    },
    (Readiness, 503): {
        "starting": {"ready": False, "phase": "starting", "checks": {"graph": "the server starts"}},
    },
}


def examples_of(type_: Any, status: int | None = None) -> Examples:
    """The examples of a contract, each under its title; those of its answer with `status` where these differ."""
    return EXAMPLES.get((type_, status)) or EXAMPLES.get(type_, {})
