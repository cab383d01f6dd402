"""Examples of what is sent and answered about files."""

from collections.abc import Mapping
from typing import Any

from librarian.contracts.files import (
    FileList,
    FileOut,
    FileSpan,
    FindFileInput,
    FindFileOutput,
    IndexInput,
    IndexReport,
    LocateInput,
    LocateOutput,
    PutFileOutput,
    SearchTextInput,
    SearchTextOutput,
    StaleList,
    TextLines,
)

_FILE = {
    "path": "api/deploy/lock_timeout.py",
    "root": "/srv/harbor",
    "size": 2140,
    "sha256": "3f0c9b6e6d0f1f3f0f6d7c1d5b1c84a9b0a0b4e1a1c1a0d6b8ef3f4f8a4a1b2c",
    "language": "python",
    "lines": 71,
    "unread": None,
    "indexed_at": "2026-02-18T12:00:00.125Z",
}
_LINES = [
    "api/deploy/lock_timeout.py:12: class LockTimeout(Exception):",
    "api/deploy/run.py:40:     except LockTimeout:",
]

FILE_EXAMPLES: Mapping[Any, Mapping[str, Any]] = {
    # sent
    IndexInput: {"a folder that the operator allows": {"root": "/srv/harbor"}},
    FindFileInput: {
        "words of a name": {"name": "lock timeout"},
        "the end of a path": {"name": "deploy/lock_timeout.py"},
    },
    SearchTextInput: {
        "a name in Python files": {"query": "LockTimeout", "languages": ["python"]},
        "a regular expression": {"query": r"lock_timeout\s*=\s*\d+", "regex": True, "globs": ["!tests/**"]},
    },
    LocateInput: {"a question": {"query": "where is LockTimeout defined?"}},
    # answered
    IndexReport: {
        "the second time": {
            "root": "/srv/harbor",
            "files": 412,
            "updated": 2,
            "unchanged": 410,
            "unread": {"binary": 9},
            "skipped": {"ignored": 3},
            "examples": [{"path": "static/logo.png", "reason": "binary"}],
            "chunks": 5,
            "bytes": 4210,
            "seconds": 0.31,
            "pending_embeddings": 5,
        }
    },
    FileOut: {"a file": _FILE},
    FileList: {"the last page": {"files": [_FILE], "more": False}},
    PutFileOutput: {"a new file": {"outcome": "added", "file": _FILE}},
    FileSpan: {
        "one line": {
            "path": "api/deploy/lock_timeout.py",
            "start": 12,
            "end": 12,
            "lines": 71,
            "language": "python",
            "sha256": _FILE["sha256"],
            "text": "class LockTimeout(Exception):",
        }
    },
    StaleList: {
        "a fact whose lines were changed": {
            "namespace": "team:harbor",
            "stale": [
                {
                    "uid": "f-lock",
                    "kind": "fact",
                    "name": "the deploy lock waits 30 seconds",
                    "ref": "file:api/deploy/lock_timeout.py#L12-L13",
                    "path": "api/deploy/lock_timeout.py",
                    "start": 14,
                    "end": 15,
                    "state": "changed",
                    "since": "2026-02-18T12:00:00Z",
                    "content": "class LockTimeout(Exception):\n    seconds = 30",
                }
            ],
            "more": False,
        }
    },
    FindFileOutput: {
        "one file": {"namespace": "team:harbor", "name": "lock timeout", "paths": ["api/deploy/lock_timeout.py"]}
    },
    SearchTextOutput: {
        "a definition and a use": {
            "namespace": "team:harbor",
            "query": "LockTimeout",
            "hits": [
                {
                    "path": "api/deploy/lock_timeout.py",
                    "line": 12,
                    "text": "class LockTimeout(Exception):",
                    "defines": "class",
                },
                {"path": "api/deploy/run.py", "line": 40, "text": "    except LockTimeout:"},
            ],
            "more": False,
            "total": 2,
            "notes": [],
        }
    },
    TextLines: {"a definition and a use": {"lines": _LINES, "more": False, "total": 2, "notes": []}},
    LocateOutput: {
        "a definition": {
            "namespace": "team:harbor",
            "query": "where is LockTimeout defined?",
            "shape": "definition",
            "why": "it asks where LockTimeout is defined: definitions first, then other lines, and files of that name",
            "paths": ["api/deploy/lock_timeout.py"],
            "lines": _LINES,
            "parts": [],
        }
    },
}
