"""Masks keys and passwords in texts, before a language model sees them. Pure."""

import re

MASK = "[secret]"

_KEYS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
    r"|\b(?:sk|pk|rk)[-_](?:[A-Za-z]+[-_])*[A-Za-z0-9]{16,}[A-Za-z0-9_-]*"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abeoprs]-[\w-]{10,}|\bAIza[\w-]{30,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    # A secret access key of AWS holds capitals, small letters and digits; a hash of 40 characters has no capitals.
    r"|(?<![\w/+=.-])(?=\S*[A-Z])(?=\S*[a-z])(?=\S*\d)[A-Za-z0-9/+]{40}(?![\w/+=-])",
    re.DOTALL,
)
_NAMED = re.compile(
    r"(?P<name>\b(?:[\w-]{0,40}[_-])?(?:password|passwd|pwd|secret(?:[_-]?(?:access[_-]?)?key)?|api[_-]?key|access[_-]?token|auth[_-]?token|token)"
    r"[\"']?(?:\s*(?:[:=]|=>)\s*|\s+is\s+(?=\S*\d)))(?P<value>\"[^\"\n]{6,}\"|'[^'\n]{6,}'|[^\s\"',;]{6,})",
    re.IGNORECASE,
)
_IN_URL = re.compile(r"(?P<name>\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{1,64}:)(?P<value>[^\s@/]{3,})(?=@)")


def masked(text: str) -> str:
    """Return `text` with MASK in place of private keys, tokens of known forms, and values labelled as passwords."""
    for pattern in (_NAMED, _IN_URL):
        text = pattern.sub(lambda found: f"{found['name']}{MASK}", text)
    return _KEYS.sub(MASK, text)
