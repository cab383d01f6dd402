"""Examples of what is sent and answered, for the OpenAPI document and the documentation. A test reads each one.

One story: a deploy that failed, what its team remembers of it, and a meeting in Japanese.
"""

from collections.abc import Mapping
from typing import Any

from librarian.contracts.answer import AnswerInput, AnswerOutput
from librarian.contracts.causal_examples import CAUSAL_EXAMPLES
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
from librarian.contracts.examples_operating import OPERATING_EXAMPLES
from librarian.contracts.file_examples import FILE_EXAMPLES
from librarian.contracts.items import IngestReport, ItemIn, ItemOut, LinkInput, RowsIn
from librarian.contracts.listing import ItemList
from librarian.contracts.namespaces import DeleteNamespaceInput, NamespaceList
from librarian.contracts.patch import ItemPatch
from librarian.contracts.relevant import RelevantInput, RelevantOutput
from librarian.contracts.review_examples import REVIEW_EXAMPLES
from librarian.contracts.search import SearchInput, SearchOutput
from librarian.contracts.search_agent import FindEvidenceInput, SearchAgentInput, SearchAgentOutput
from librarian.contracts.semantic import (
    FactSearchOutput,
    MemorySearchOutput,
    MessageSearchOutput,
    MixedSearchOutput,
    SemanticSearchInput,
)
from librarian.contracts.service import Health, Readiness
from librarian.contracts.sweep_examples import SWEEP_EXAMPLES
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

_EVIDENCE_WANTED = {
    "user_query": "決定係数の計算式を教えて",
    "analyzed_info": {"intent": "formula_lookup", "context": "Lecture 03: Regression Analysis"},
    "task": {"target_items": ["definition", "formula", "interpretation_0_1"], "max_retries": 5},
    "stop_conditions": "All target_items are found with specific references.",
}
_EVIDENCE_FOUND = {
    "status": "COMPLETED",
    "selected_evidence": [
        {"temp_index": 4, "why": "definition, formula: 「決定係数は R² = 1 − RSS / TSS で定義される」"},
        {"temp_index": 7, "why": "interpretation_0_1: 「1 に近いほど当てはまりがよく、0 は平均値で予測するのと同じ」"},
    ],
    "reasoning_summary": "3 of 3 target items covered by 2 of 9 candidates after 2 searches. "
    "Stopped because everything was covered.",
}

_SIMILAR = {
    "queries": ["how long did the rollback take?"],
    "threshold": 0.35,
    "iterations": 9,
    "arms": {"vector": "ok", "keyword": "ok"},
    "reranked": False,
    "notes": [],
}
_FACT_RESULT = {
    "kind": "fact",
    "uid": "fact-deploy-outcome",
    "content": _STORED_FACT["text"],
    "similarity_score": 0.7046,
    "score": 0.774825,
    "domain": "deploys",
    "tags": ["HRB-412"],
    "subject": "deploy of harbor-api 2026.2.3",
    "predicate": "was rolled back after",
    "object": "16 minutes",
    "fact_type": None,
    "person_id": None,
    "confidence": None,
    "valid_from": "2026-02-18T05:06:00Z",
    "valid_to": None,
    "evidence": [_EVIDENCE],
}
_MESSAGE_RESULT = {
    "kind": "message",
    "uid": "m-eb6bb1799e9b84510a35c3c9",
    "content": _MESSAGE["text"],
    "similarity_score": 0.6312,
    "score": 0.812077,
    "message_id": "deploy-9",
    "author_id": None,
    "author_name": "Kenji Mori",
    "conversation_id": "deploy",
    "sent_at": "2026-02-18T05:22:00Z",
}
_MEMORY_RESULT = {
    "kind": "memory",
    "uid": "mem-chart-cleanup",
    "content": _MEMORY["text"],
    "similarity_score": 0.4128,
    "score": 0.518802,
    "domain": "deploys",
    "tags": ["HRB-398", "HRB-412"],
    "type": "Problem",
    "importance": 9,
    "agent": "oncall-helper",
    "occurred_at": "2026-02-18T11:40:00Z",
}

# By type; an answer with a status of its own has the pair.
EXAMPLES: Mapping[Any, Examples] = {
    **FILE_EXAMPLES,
    **SWEEP_EXAMPLES,
    **CAUSAL_EXAMPLES,
    **REVIEW_EXAMPLES,
    **OPERATING_EXAMPLES,
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
    SemanticSearchInput: {
        "one question": {"queries": ["how long did the rollback take?"]},
        "two wordings, in what was kept in February": {
            "queries": ["why did the deploy fail?", "HRB-412 root cause"],
            "limit": 5,
            "adaptive_threshold_min": 0.4,
            "filters": {"occurred_from": "2026-02-01T00:00:00Z", "occurred_to": "2026-02-28T23:59:59Z"},
        },
        "only what is close": {"queries": ["rollback of harbor-api"], "similarity_threshold": 0.6},
    },
    RelevantInput: {
        "one question": {"query": "how long did the rollback take?", "max_hits": 10},
        "in the order of the search": {"query": "rollback", "answer_over_question": False},
    },
    AnswerInput: {"one question": {"query": "how long did the rollback take?"}},
    SearchAgentInput: {"a formula, in Japanese": _EVIDENCE_WANTED},
    FindEvidenceInput: {
        "a formula, in Japanese": {
            "question": _EVIDENCE_WANTED["user_query"],
            "target_items": ["definition", "formula", "interpretation_0_1"],
            "context": "Lecture 03: Regression Analysis",
        }
    },
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
    FactSearchOutput: {"one fact": {**_SIMILAR, "results": [_FACT_RESULT]}},
    MessageSearchOutput: {"one message": {**_SIMILAR, "results": [_MESSAGE_RESULT]}},
    MemorySearchOutput: {
        "one memory": {**_SIMILAR, "results": [_MEMORY_RESULT]},
        "nothing is known": {**_SIMILAR, "queries": ["who won the regatta?"], "results": []},
    },
    MixedSearchOutput: {"all kinds": {**_SIMILAR, "results": [_MESSAGE_RESULT, _FACT_RESULT, _MEMORY_RESULT]}},
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
    SearchAgentOutput: {
        "everything is covered": _EVIDENCE_FOUND,
        "the best so far, in full detail": {
            "status": "PARTIAL",
            "selected_evidence": _EVIDENCE_FOUND["selected_evidence"][:1],
            "reasoning_summary": "2 of 3 target items covered by 1 of 9 candidates after 4 searches. "
            "Missing: interpretation_0_1. Stopped because further searches brought nothing new.",
            "coverage": {"definition": [4], "formula": [4]},
            "missing_items": ["interpretation_0_1"],
            "searches_used": 4,
            "stopped_by": "no_progress",
            "trace_id": "5d0f54f3a9c24fdc8b3e1c3ad0e4c0f7",
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
        "ready": {
            "ready": True,
            "phase": "ready",
            "checks": {"graph": "ok", "encoder": "ok", "reranker": "off: RERANKER_ENABLED is false"},
        },
    },
    (Readiness, 503): {
        "starting": {"ready": False, "phase": "starting", "checks": {"graph": "the server starts"}},
    },
}


def examples_of(type_: Any, status: int | None = None) -> Examples:
    """The examples of a contract, each under its title; those of its answer with `status` where these differ."""
    return EXAMPLES.get((type_, status)) or EXAMPLES.get(type_, {})
