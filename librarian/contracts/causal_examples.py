"""Examples of what is asked and answered about causes and effects."""

from collections.abc import Mapping
from typing import Any

from librarian.contracts.causal import CausalInput, CausalOutput, ContradictionList, CycleList, PathOutput

OUTCOME = {
    "uid": "fact-deploy-outcome",
    "kind": "fact",
    "name": "deploy of harbor-api 2026.2.3 was rolled back after 16 minut",
    "type": None,
    "occurred_at": "2026-02-18T05:06:00Z",
    "text": "deploy of harbor-api 2026.2.3 was rolled back after 16 minutes",
}
CLEANUP = {
    "uid": "mem-chart-cleanup",
    "kind": "memory",
    "name": "Chart clean-up lost two lines",
    "type": "Problem",
    "occurred_at": "2026-02-18T11:40:00Z",
    "text": "The chart clean-up HRB-398 lost the CronJob's timeZone and the migration's lock_timeout.",
}
EDGE = {
    "edge_id": "1f0c2a9be47d5a6630c19b82",
    "source": "mem-chart-cleanup",
    "target": "fact-deploy-outcome",
    "type": "CAUSES",
    "state": "accepted",
    "method": "rule",
    "confidence": 0.86,
    "reason": None,
    "source_quote": "lost … the migration's lock_timeout",
    "target_quote": "rolled back after 16 minutes",
    "run_id": "sweep-20260219-001",
    "created_at": "2026-02-19T08:00:00Z",
    "reviewed_by": None,
    "reviewed_at": None,
    "model": None,
    "prompt_version": None,
}
_BLOCKS = {**EDGE, "edge_id": "c02b8e1d0a9f6b1c4d7e3f55", "type": "BLOCKS", "method": "human", "confidence": 1.0}
_BACK = {**EDGE, "edge_id": "77aa01c2b3d4e5f60718293a", "source": OUTCOME["uid"], "target": CLEANUP["uid"]}

CAUSAL_EXAMPLES: Mapping[Any, Mapping[str, Any]] = {
    CausalInput: {
        "as far as it goes": {"uid": "fact-deploy-outcome"},
        "two steps, proposals too": {"uid": "fact-deploy-outcome", "max_depth": 2, "include_proposed": True},
    },
    CausalOutput: {
        "a root cause": {
            "item": OUTCOME,
            "types": ["CAUSES"],
            "items": [{**CLEANUP, "depth": 1, "confidence": 0.86, "path": [EDGE["edge_id"]], "is_end": True}],
            "edges": [EDGE],
            "more": False,
        }
    },
    PathOutput: {
        "one edge": {"items": [CLEANUP, OUTCOME], "edges": [EDGE], "confidence": 0.86, "more": False},
        "none": {"items": [], "edges": [], "confidence": None, "more": False},
    },
    ContradictionList: {
        "two homes at one time, and an edge against another": {
            "facts": [
                {
                    "person_id": "mika",
                    "fact_type": "home",
                    "relationship_type": "lives in",
                    "first": {
                        "uid": "f-1b7c0d",
                        "object": "Kobe",
                        "text": "Mika lives in Kobe",
                        "confidence": 0.9,
                        "valid_from": "2025-04-01T00:00:00Z",
                        "valid_to": None,
                    },
                    "second": {
                        "uid": "f-93ae42",
                        "object": "Osaka",
                        "text": "Mika lives in Osaka",
                        "confidence": None,
                        "valid_from": None,
                        "valid_to": "2026-01-01T00:00:00Z",
                    },
                }
            ],
            "edges": [{"source": CLEANUP, "target": OUTCOME, "edges": [EDGE, _BLOCKS]}],
            "more": False,
        }
    },
    CycleList: {
        "two items that cause each other": {
            "cycles": [{"items": [OUTCOME, CLEANUP], "edges": [_BACK, EDGE], "confidence": 0.7396}],
            "more": False,
        }
    },
}
