"""Examples of sweeps: what is asked, what is planned and done, and what an undo takes back."""

from collections.abc import Mapping
from typing import Any

from librarian.contracts.sweeps import SweepList, SweepReport, SweepRequest, SweepScope, SweepUndoOutput

_CONFIG = {"domains": ["deploys"], "limit": None, "min_importance": None, "filters": None, "llm": False}
_SUMMARY = {
    "memories_scanned": 214,
    "memories_retyped": 61,
    "memories_templated": 172,
    "causal_edges_created": 9,
    "unknown_flagged": 38,
}
_FINDINGS = {
    "types_before": {"none": 99, "Decision": 70, "Problem": 45},
    "types_after": {"none": 38, "Decision": 96, "Problem": 80},
    "missing_agent": 12,
    "missing_type": 99,
    "missing_time": 3,
    "missing_importance": 40,
    "importance": {"9": 120, "5": 54},
    "importance_saturated": 120,
    "saturated": True,
    "edges_proposed": 4,
    "related_created": 31,
    "merges_proposed": 2,
    "templates_refused": 1,
    "template_warnings": 7,
    "refused": 0,
}
_TYPED = {
    "memory_id": "mem-chart-cleanup",
    "action": "retype",
    "version": 1,
    "confidence": 0.92,
    "method": "rule",
    "new_type": "Problem",
    "reason": "marker: Problem:",
}
_WRITTEN = {
    "memory_id": "mem-chart-cleanup",
    "action": "template",
    "version": 1,
    "text": "## CONTEXT\nProblem: the chart clean-up HRB-398 lost the CronJob's timeZone.\n\n## TAGS\ntype:problem\n",
    "tags": ["component:chart"],
}
_DRAWN = {
    "memory_id": "mem-chart-cleanup",
    "action": "causal_edge",
    "version": 1,
    "confidence": 0.86,
    "method": "rule",
    "target_id": "mem-night-report",
    "target_version": 2,
    "relation": "Causes",
    "edge_id": "1f0c2a9be47d5a6630c19b82",
    "edge_state": "accepted",
    "source_quote": "HRB-398 lost the CronJob's timeZone",
    "target_quote": "because of HRB-398",
    "reason": 'one speaks of the other with "because of"',
}
_OTHERS = [
    {
        "memory_id": "mem-fri",
        "action": "flag",
        "version": 1,
        "confidence": 0.41,
        "method": "rule",
        "new_type": "Insight",
        "reason": "head: noticed",
    },
    {
        "memory_id": "mem-retry-2",
        "action": "merge",
        "version": 1,
        "confidence": 0.94,
        "target_id": "mem-retry",
        "target_version": 1,
        "reason": "both say the same; the other one is the fuller",
    },
]
_PLAN = {
    "sweep_id": "sweep-20260219-001",
    "dry_run": True,
    "config": _CONFIG,
    "summary": _SUMMARY,
    "changes": [_DRAWN, *_OTHERS, _TYPED, _WRITTEN],
    "namespace": "team:harbor",
    "status": "planned",
    "findings": _FINDINGS,
    "actor": "key:night-shift",
    "started_at": "2026-02-19T08:00:00Z",
    "finished_at": "2026-02-19T08:00:09Z",
}
_DONE = {
    **_PLAN,
    "dry_run": False,
    "status": "applied",
    "changes": [{**_DRAWN, "state": "applied", "seq": 0}],
    "refused": [{"memory_id": "mem-retry", "action": "template", "reason": "changed"}],
}

SWEEP_EXAMPLES: Mapping[Any, Mapping[str, Any]] = {
    SweepRequest: {
        "a plan for two domains": {"dry_run": True, "domains": ["deploys", "請求"]},
        "everything that matters": {"min_importance": 5},
        "the plan of a dry run": {"plan": _PLAN},
        "on from where one was interrupted": {"resume": "sweep-20260219-001"},
    },
    SweepScope: {"one domain": {"domains": ["deploys"], "limit": 200}},
    SweepReport: {"a plan": _PLAN, "what was done": _DONE},
    SweepList: {
        "the latest": {
            "sweeps": [
                {
                    "sweep_id": "sweep-20260219-001",
                    "status": "applied",
                    "config": _CONFIG,
                    "summary": _SUMMARY,
                    "actor": "key:night-shift",
                    "started_at": "2026-02-19T08:00:00Z",
                    "finished_at": "2026-02-19T08:00:09Z",
                }
            ],
            "next_cursor": None,
        }
    },
    SweepUndoOutput: {
        "all but what somebody has changed": {
            "sweep_id": "sweep-20260219-001",
            "status": "undone",
            "memories_restored": 171,
            "edges_removed": 43,
            "proposals_withdrawn": 40,
            "changes_kept": 1,
            "kept": [
                {"memory_id": "mem-chart-cleanup", "action": "template", "reason": "the memory was changed since"}
            ],
        }
    },
}
