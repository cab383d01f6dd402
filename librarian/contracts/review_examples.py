"""Examples of reviews."""

from collections.abc import Mapping
from typing import Any

from librarian.contracts.causal_examples import CLEANUP, EDGE, OUTCOME
from librarian.contracts.reviews import ReviewInput, ReviewList, ReviewOutput

_PROPOSED = {
    "review_id": EDGE["edge_id"],
    "sort": "edge",
    "state": "open",
    "item": CLEANUP,
    "other": OUTCOME,
    "edge": {**EDGE, "state": "proposed", "confidence": 0.58},
    "old_type": None,
    "new_type": None,
    "given_type": None,
    "confidence": 0.58,
    "reason": None,
    "run_id": "sweep-20260219-001",
    "reviewed_by": None,
    "reviewed_at": None,
    "review_reason": None,
}
_DECIDED = {
    "reviewed_by": "8f2c1a90be",
    "reviewed_at": "2026-02-20T09:30:00Z",
    "review_reason": "the incident report says so",
}
_FLAG = {
    **_PROPOSED,
    "review_id": "sweep-20260219-001-12",
    "sort": "flag",
    "other": None,
    "edge": None,
    "old_type": "Insight",
    "new_type": "Problem",
    "confidence": 0.95,
    "reason": "the text says Problem, stated is Insight",
}

REVIEW_EXAMPLES: Mapping[Any, Mapping[str, Any]] = {
    ReviewInput: {
        "an edge is right": {"verdict": "accept", "reason": "the incident report says so"},
        "a memory is of another type": {"verdict": "accept", "type": "Decision"},
        "it is wrong": {"verdict": "reject"},
    },
    ReviewList: {"an edge and a flag": {"reviews": [_PROPOSED, _FLAG], "next_cursor": None}},
    ReviewOutput: {
        "accepted": {
            "decided": True,
            "review": {
                **_PROPOSED,
                "state": "accepted",
                "edge": {**EDGE, "confidence": 0.58, **_DECIDED},
                **_DECIDED,
            },
            "notes": [],
        }
    },
}
