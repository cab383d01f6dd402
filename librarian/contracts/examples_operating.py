"""Examples of what operators send and get: why a search does not show an item, and embedding spaces."""

from collections.abc import Mapping
from typing import Any

from librarian.contracts.exports import ImportReport
from librarian.contracts.spaces import SpaceList, SwitchInput
from librarian.contracts.why_not import WhyNotInput, WhyNotOutput

OPERATING_EXAMPLES: Mapping[Any, Mapping[str, Any]] = {
    ImportReport: {
        "a whole namespace": {
            "namespaces": ["team:a"],
            "created": {"conversation": 3, "edge": 12, "item": 40, "person": 2},
            "pending_embeddings": 40,
        },
        "the rest of one": {
            "namespaces": ["team:a"],
            "created": {"edge": 0, "item": 2},
            "skipped": {"edge": 12, "item": 38},
        },
    },
    SwitchInput: {
        "a space that was built": {"space": "bge_m3_0c1d2e3f4a5b"},
        "before it is whole": {"space": "bge_m3_0c1d2e3f4a5b", "force": True},
    },
    WhyNotInput: {
        "a memory that was expected": {"uid": "mem-chart-cleanup", "queries": ["why did the deploy fail?"], "limit": 5},
    },
    SpaceList: {
        "the active one, and one that was built beside it": {
            "spaces": [
                {
                    "space": "bge_small_en_v1_5_q_851ec7cf3bd1",
                    "model": "bge-small-en-v1.5-q",
                    "dimension": 384,
                    "active": True,
                    "index_state": "ONLINE",
                    "vectors": 416,
                    "pending_items": 0,
                },
                {
                    "space": "bge_m3_0c1d2e3f4a5b",
                    "model": "bge-m3",
                    "dimension": 1024,
                    "active": False,
                    "index_state": "ONLINE",
                    "vectors": 416,
                    "pending_items": 0,
                },
            ]
        }
    },
    WhyNotOutput: {
        "the limit cuts it off": {
            "namespace": "team:harbor",
            "uid": "mem-chart-cleanup",
            "verdict": "cut_by_limit",
            "explanation": "The limit cuts it off: it is candidate 7 in order.",
            "rank": 7,
            "similarity_score": 0.5918,
            "arms": [
                {"query": 0, "arm": "vector", "rank": 9, "score": 0.5918},
                {"query": 0, "arm": "keyword", "rank": None, "reason": "it holds none of the query's words"},
            ],
        }
    },
}
