"""The hook: reads one event of a coding agent from standard input and appends the turns it reports to a spool.

    python -I -S keep.py PROGRAM FOLDER NAMESPACE

It runs once or twice a turn while somebody waits, so it is self-contained: it imports little of the standard library
and nothing of ours, and makes no requests. `keep.py` starts it, as Python does not cache the bytecode of a script.
`librarian.items.capture.delivery` brings the spooled rows into the graph.

FOLDER holds `spool.jsonl` (rows of an ingest), `sessions/` (how far each session's transcript is read) and `lock`.
Rows are synced to disk before the hook ends; the position is saved after that, so that a hook killed in between reads
the same part again and makes the same rows. A row's id comes from the session, the role, the text and how often the
session has had it before. It is the same whether the turn comes from an event or the transcript, so each is kept once.
"""

import json
import os
import re
import sys
import time
from _blake2 import blake2b  # hashlib would load OpenSSL, a sixth of the hook's time
from collections.abc import Callable, Iterator

MAX_SPOOL_BYTES = 64 * 2**20
"""Capacity of the spool. Beyond it, turns of a transcript wait there, others are lost, with a message on stderr."""
MAX_TEXT_CHARS = 200_000
FENCE = "librarian-context"
"""The element around recalled memories; `stripped` removes it, so that they are not captured as new."""

_MAX_READ = 16 * 2**20
_MAX_EVENT = 32 * 2**20
_MAX_SHORT = 400
_ID_BYTES = 16
_REMEMBERED_S = 90 * 86400
_KEY_DIGITS = 12
_AUTHORS = {"claude-code": "Claude Code", "codex": "Codex", "gemini-cli": "Gemini CLI"}

# Formats of secrets as documented by their issuers: name, substrings of which one must occur (a cheap test before
# compiling a pattern), and the pattern, of which the group `secret`, or the whole match, is masked. Order matters.
SECRETS: tuple[tuple[str, str, str], ...] = (
    (
        "private key",
        "private key-----",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    ),
    ("AWS access key", "akia|asia|abia|acca", r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b"),
    ("AWS secret key", "aws", r"(?i)aws.{0,20}?(?:secret|key).{0,20}?[=:]\s*['\"]?(?P<secret>[A-Za-z0-9/+=]{40})\b"),
    ("GitHub token", "gh", r"\bgh[pousr]_[A-Za-z0-9]{36,}"),
    ("GitHub token", "github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{22,}"),
    ("GitLab token", "glpat-", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("API key", "sk-", r"\bsk-[A-Za-z0-9_-]{20,}"),
    ("Stripe key", "k_", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("Slack token", "xox", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("Slack webhook", "hooks.slack.com", r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}"),
    ("Google API key", "aiza", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("Google client secret", "gocspx-", r"\bGOCSPX-[A-Za-z0-9_-]{20,}"),
    ("npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}"),
    ("PyPI token", "pypi-", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    ("Hugging Face token", "hf_", r"\bhf_[A-Za-z0-9]{30,}"),
    ("SendGrid key", "sg.", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("Telegram token", ":aa", r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b"),
    ("Librarian key", "lib_", r"\blib_[A-Za-z0-9_-]{30,}"),
    ("JSON web token", "eyj", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    ("password", "://", r"[a-z][a-z0-9+.-]*://[^\s/:@'\"]*:(?P<secret>[^\s/@'\"$<{]{3,})@"),
    (
        "credentials",
        "authorization",
        r"(?i)authorization['\"]?\s*[:=]\s*['\"]?(?:bearer|basic|token)\s+(?P<secret>[^\s'\"$<{]{8,})",
    ),
    ("credentials", "bearer", r"(?i)\bbearer\s+(?P<secret>[A-Za-z0-9._~+/=-]{20,})"),
    (
        "password",
        "pass|pwd",
        r"(?i)(?:password|passwd|passphrase|\bpwd)['\"]?\s*[:=]\s*(?:(['\"])(?P<secret>[^'\"\n$<{]{4,})\1|(?P<plain>[^\s'\"$<{(\[,;]{6,}))",
    ),
    (
        "secret",
        "secret|token|key|credential",
        r"(?i)(?:secret|token|(?:api|access|private|account)[_-]?key|credential)['\"]?\s*[:=]\s*['\"]?(?P<secret>(?=[^\s'\"]*[0-9])[A-Za-z0-9_/+=.~-]{12,})",
    ),
)

# Rows that the program inserts as if they came from a person.
_NOT_SAID = ("<local-command-", "<bash-", "<task-notification", "Caveat: The messages below", "[Request interrupted")
_COMMAND = r"<command-name>\s*(\S+?)\s*</command-name>(?:.*?<command-args>(.*?)</command-args>)?"


def main(arguments: list[str]) -> int:
    """Capture the turns of one event. Returns an exit code that never stops a session."""
    program, folder, namespace = arguments
    os.umask(0o077)  # the hook may be the first to create the home's folder, which holds private text
    try:
        event = json.loads(sys.stdin.buffer.read(_MAX_EVENT))
        kept(folder, program, namespace, event if isinstance(event, dict) else {})
    except SpoolFull as error:
        sys.stderr.write(f"librarian: {error}\n")
    except (OSError, ValueError) as error:
        sys.stderr.write(f"librarian: this event was not kept: {error}\n")
        return 1
    return 0


def kept(folder: str, program: str, namespace: str, event: dict[str, object]) -> None:
    """Capture the turns of one event. Raises SpoolFull, OSError, ValueError."""
    session_id = _text(event.get("session_id")) or _text(event.get("thread-id"))
    if session_id is None:
        raise ValueError("the event names no session")
    with Lock(folder):
        session = Session(folder, program, session_id)
        session.namespace = namespace
        session.folder = _text(event.get("cwd")) or session.folder
        session.transcript = _text(event.get("transcript_path")) or session.transcript
        if session.is_new:
            session.save()  # from now on its transcript will be read to the end, even if this hook dies
        rows = session.rows_of(event)
        append(folder, rows)
        session.save()


def caught_up(folder: str, idle_s: float) -> int:
    """Capture the turns after the last event of sessions that have been silent for `idle_s` seconds, such as killed
    ones. Returns the number of turns. Raises SpoolFull, OSError.
    """
    count = 0
    for name in _listed(os.path.join(folder, "sessions")):
        with Lock(folder):
            session = Session.read(folder, name)
            if session is None:
                continue
            if not session.is_behind(idle_s):
                session.remove_if_old()
                continue
            rows = session.read_transcript()
            append(folder, rows)
            session.save()
            count += len(rows)
    return count


def forgotten(folder: str, program: str) -> None:
    """Delete the positions of a program's sessions, so that nothing more is read from their transcripts."""
    for name in _listed(os.path.join(folder, "sessions")):
        session = Session.read(folder, name)
        if session is not None and session.program == program:
            session.remove()


class SpoolFull(Exception):
    """The spool is full; `librarian serve` or `librarian hook deliver` empties it."""


class Lock:
    """The folder's lock: one hook at a time reads, appends and saves its position."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._file = -1

    def __enter__(self) -> "Lock":
        os.makedirs(os.path.join(self._folder, "sessions"), mode=0o700, exist_ok=True)
        self._file = os.open(os.path.join(self._folder, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        import fcntl  # missing on native Windows, where no hook is installed but this module must still load

        fcntl.flock(self._file, fcntl.LOCK_EX)
        return self

    def __exit__(self, *_error: object) -> None:
        os.close(self._file)


def append(folder: str, rows: list[dict[str, object]]) -> None:
    """Append rows to the spool and sync it. Raises SpoolFull, OSError."""
    if not rows:
        return
    path = os.path.join(folder, "spool.jsonl")
    lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode("utf-8", "replace")
    is_new = not os.path.exists(path)
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(file).st_size
        if size + len(lines) > MAX_SPOOL_BYTES:
            raise SpoolFull(f"{path} is full: start `librarian serve`, or run `librarian hook deliver`")
        torn = size and os.pread(file, 1, size - 1) != b"\n"  # by a power cut: end that line, so that ours stays intact
        written = b"\n" + lines if torn else lines
        while written:
            written = written[os.write(file, written) :]
        os.fsync(file)
    finally:
        os.close(file)
    if is_new:
        _sync_folder(folder)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _sync_folder(folder: str) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


class Session:
    """How far one session is captured: `offset` bytes of its transcript, and how often it had each text.

    `seen` counts each (role, text), by digest, in the transcript and in events. `tools` are those called since the
    agent's last text.
    """

    def __init__(self, folder: str, program: str, session_id: str) -> None:
        self._path = os.path.join(folder, "sessions", f"{_digest(program, session_id)}.json")
        self.program, self.id = program, session_id
        self.namespace, self.folder, self.transcript = "", "", ""
        self.offset = 0
        self.last = ""
        self.tools: dict[str, int] = {}
        self.seen: dict[str, list[int]] = {}
        self.is_new = True
        try:
            with open(self._path, "rb") as file:
                self.__dict__.update(json.load(file))
            self.is_new = False
        except (FileNotFoundError, ValueError, TypeError):
            pass  # a first event, or a file damaged by a power cut: the whole transcript is read again

    @classmethod
    def read(cls, folder: str, name: str) -> "Session | None":
        """Return the session saved in the file `name`; None if that is damaged."""
        try:
            with open(os.path.join(folder, "sessions", name), "rb") as file:
                noted = json.load(file)
            return cls(folder, noted["program"], noted["id"])
        except (OSError, ValueError, KeyError):
            return None

    def save(self) -> None:
        """Save how far it is captured."""
        noted = {name: value for name, value in self.__dict__.items() if name not in ("_path", "is_new")}
        with open(f"{self._path}.new", "w", encoding="utf-8", opener=_private) as file:
            json.dump(noted, file)
        os.replace(f"{self._path}.new", self._path)

    def remove(self) -> None:
        """Forget it."""
        os.unlink(self._path)

    def remove_if_old(self) -> None:
        """Delete it if no hook has reported it for months."""
        if time.time() - os.stat(self._path).st_mtime > _REMEMBERED_S:
            self.remove()

    def is_behind(self, idle_s: float) -> bool:
        """Return whether its transcript holds uncaptured turns and has not grown for `idle_s` seconds."""
        try:
            found = os.stat(self.transcript)
        except OSError:
            return False
        return found.st_size > self.offset and time.time() - found.st_mtime >= idle_s

    def rows_of(self, event: dict[str, object]) -> list[dict[str, object]]:
        """Return the rows that an event adds."""
        name = event.get("hook_event_name")
        if name == "SessionStart":
            if self.is_new and event.get("source") != "startup":  # its past was captured before, or must not be
                self.offset = _size(self.transcript)
            return []
        if name == "AfterTool":
            self._count_tool(_text(event.get("tool_name")))
            return []
        prompt = _text(event.get("prompt")) if name in ("UserPromptSubmit", "BeforeAgent") else None
        answer = _text(event.get("last_assistant_message")) or _text(event.get("prompt_response"))
        rows, tools = self._read_to(answer if name == "Stop" else None)
        role, said = ("user", prompt) if prompt else ("assistant", answer)
        turn = [name, said, *(event.get(key) for key in ("prompt_id", "turn_id", "timestamp"))]
        current = _digest(*map(str, turn))
        if said is not None and current != self.last:  # a hook run twice for one event adds nothing
            rows += self._row(role, said, now(), 1, tools)
        self.last = current
        return rows

    def read_transcript(self) -> list[dict[str, object]]:
        """Return the rows of the transcript after `offset`, and advance it."""
        return self._read_to(None)[0]

    def _read_to(self, answer: str | None) -> "tuple[list[dict[str, object]], Tools | None]":
        """Return the rows of the transcript, and the tools called before the `answer` that ends a turn, where known.

        The agent's last text is left for later unless it is that answer, as more of it may be written.
        """
        if self.program not in _READERS or not self.transcript:
            return [], None
        if _size(self.transcript) < self.offset:  # it was replaced
            self.offset, self.seen = 0, {key: [0, said] for key, (_, said) in self.seen.items()}
        lines, end = _lines(self.transcript, self.offset)
        turns = list(_READERS[self.program](lines, self._count_tool, self._take_tools))
        called: Tools | None = None
        if answer is not None and turns and turns[-1][0] == "assistant" and _plain(turns[-1][1]) != _plain(answer):
            called = self.tools
            *turns, (_, _, _, self.tools, end) = turns
        self.offset = end
        return [
            row for role, text, at, tools, _ in turns for row in self._row(role, text, at or now(), 0, tools)
        ], called

    def _count_tool(self, name: str | None) -> None:
        if name:
            self.tools[name] = self.tools.get(name, 0) + 1

    def _take_tools(self) -> dict[str, int]:
        taken, self.tools = self.tools, {}
        return taken

    def _row(
        self, role: str, said: str, at: str, source: int, tools: dict[str, int] | None = None
    ) -> list[dict[str, object]]:
        """Return the row of one turn, unless the other source (0: the transcript, 1: events) has delivered it."""
        text = masked(stripped(said)).strip()
        key = _digest(role, _plain(said))[:_KEY_DIGITS]
        counts = self.seen.setdefault(key, [0, 0])
        counts[source] += 1
        if not text or counts[source] <= counts[1 - source]:
            return []
        if tools is None and role == "assistant":
            tools = self._take_tools()
        row: dict[str, object] = {
            "kind": "message",
            "namespace": self.namespace,
            "message_id": _digest(self.program, self.id, key, str(counts[source])),
            "text": text[:MAX_TEXT_CHARS],
            "role": role,
            "author_name": _AUTHORS.get(self.program, self.program) if role == "assistant" else "User",
            "conversation_id": f"{self.program}:{self.id}"[:_MAX_SHORT],
            "session_id": self.id[:_MAX_SHORT],
            "sent_at": at,
            "tags": [self.program],
        }
        if project := os.path.basename(self.folder.rstrip("/")):
            row["domain"] = project[:_MAX_SHORT]
        if tools:
            row["caption"] = _tools_said(tools)
        return [row]


def stripped(text: str) -> str:
    """Return `text` without recalled memories and the program's additions for the model."""
    if FENCE in text:
        text = re.sub(rf"<{FENCE}\b[^>]*>.*?(?:</{FENCE}>|\Z)", "", text, flags=re.DOTALL)
    if "<system-reminder>" in text:
        text = re.sub(r"<system-reminder>.*?</system-reminder>", "", text, flags=re.DOTALL)
    return text


def masked(text: str) -> str:
    """Replace secrets of known formats in `text` by `[masked: KIND]`."""
    lowered = text.lower()
    for kind, trigger, pattern in SECRETS:
        if any(letters in lowered for letters in trigger.split("|")):
            text = _masked(text, pattern, kind)
    return text


def _masked(text: str, pattern: str, kind: str) -> str:
    def hidden(found: "re.Match[str]") -> str:
        groups = found.groupdict()
        secret = next((groups[name] for name in ("secret", "plain") if groups.get(name)), found[0])
        return found[0] if secret.startswith("[masked:") else found[0].replace(secret, f"[masked: {kind}]")

    return re.sub(pattern, hidden, text, flags=re.DOTALL)


Tools = dict[str, int]
Turn = tuple[str, str, "str | None", Tools, int]
"""Role, text, time, tools called before it, and start in the transcript."""
Lines = list[tuple[int, dict[str, object]]]
"""The objects of a transcript with their offsets."""


def _claude_turns(lines: Lines, count: Callable[[str | None], None], take: Callable[[], Tools]) -> Iterator[Turn]:
    """Yield the turns of Claude Code, which has a line for each prompt, and for each part of an answer, by id."""
    answer: tuple[object, list[str], str | None, Tools, int] | None = None
    for begin, entry in lines:
        said = entry.get("message")
        if not isinstance(said, dict) or any(entry.get(mark) for mark in _NOT_OF_THE_CONVERSATION):
            continue
        texts, tools, at = _parts(said.get("content")), _tools_of(said.get("content")), _text(entry.get("timestamp"))
        if entry.get("type") == "assistant":
            if texts and answer is not None and answer[0] == said.get("id"):
                answer[1].extend(texts)
            elif texts:
                yield from _answered(answer)
                answer = said.get("id"), texts, at, take(), begin
            for tool in tools:
                count(tool)
        elif entry.get("type") == "user" and (prompt := _prompt("\n".join(texts))):
            yield from _answered(answer)
            answer = None
            yield from _silent(take(), at, begin)
            yield "user", prompt, at, {}, begin
    yield from _answered(answer)


def _codex_turns(lines: Lines, count: Callable[[str | None], None], take: Callable[[], Tools]) -> Iterator[Turn]:
    """Yield the turns of a Codex rollout: events hold the texts, response items the tool calls."""
    for begin, entry in lines:
        said, at = entry.get("payload"), _text(entry.get("timestamp"))
        if not isinstance(said, dict):
            continue
        kind, text = said.get("type"), _text(said.get("message"))
        if entry.get("type") == "event_msg" and text and kind == "user_message":
            yield from _silent(take(), at, begin)
            yield "user", text, at, {}, begin
        elif entry.get("type") == "event_msg" and text and kind == "agent_message":
            yield "assistant", text, at, take(), begin
        elif entry.get("type") == "response_item" and isinstance(kind, str) and kind.endswith("_call"):
            count(_text(said.get("name")) or kind.removesuffix("_call"))


_READERS = {"claude-code": _claude_turns, "codex": _codex_turns}
_NOT_OF_THE_CONVERSATION = (
    "isSidechain",
    "isMeta",
    "isCompactSummary",
    "isVisibleInTranscriptOnly",
    "isApiErrorMessage",
)


def _answered(answer: tuple[object, list[str], str | None, Tools, int] | None) -> Iterator[Turn]:
    if answer is not None:
        _, texts, at, tools, begin = answer
        yield "assistant", "\n\n".join(texts), at, tools, begin


def _silent(tools: Tools, at: str | None, begin: int) -> Iterator[Turn]:
    """Yield the turn of an agent that ended with tool calls and no text."""
    if tools:
        yield "assistant", f"({_tools_said(tools)})", at, {}, begin


def _prompt(text: str) -> str | None:
    """Return a person's text; a command as it was typed."""
    if (command := re.search(_COMMAND, text, re.DOTALL)) and "<command-name>" in text:
        return f"{command[1]} {(command[2] or '').strip()}".strip()
    return None if text.startswith(_NOT_SAID) else _text(text)


def _parts(content: object) -> list[str]:
    """Return the texts of a message or of its parts."""
    if isinstance(content, str):
        return [content] if content.strip() else []
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text")
    return [text for text in texts if isinstance(text, str) and text.strip()]


def _tools_of(content: object) -> list[str | None]:
    parts = content if isinstance(content, list) else []
    return [_text(part.get("name")) for part in parts if isinstance(part, dict) and part.get("type") == "tool_use"]


def _tools_said(tools: Tools) -> str:
    """`{"Bash": 3, "Edit": 1}` as "Tools used: Bash ×3, Edit"."""
    return "Tools used: " + ", ".join(name if times == 1 else f"{name} ×{times}" for name, times in tools.items())


def _lines(path: str, offset: int) -> tuple[Lines, int]:
    """Return the objects of the complete lines of `path` from `offset` on, and the offset after them."""
    try:
        with open(path, "rb") as file:
            file.seek(offset)
            content = file.read(_MAX_READ)
            while len(content) >= _MAX_READ and b"\n" not in content:
                if not (more := file.read(_MAX_READ)):
                    break
                content += more
    except OSError:
        return [], offset
    found: Lines = []
    for line in content[: content.rfind(b"\n") + 1].splitlines(keepends=True):
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        if isinstance(value, dict):
            found.append((offset, value))
        offset += len(line)
    return found, offset


def now() -> str:
    """Return the time, in UTC."""
    seconds = time.time()
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{int(seconds % 1 * 1e6):06d}Z"


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _plain(text: str) -> str:
    """Return the form of a text that events and transcripts share: without white space."""
    return "".join(stripped(text).split())


def _digest(*parts: str) -> str:
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=_ID_BYTES).hexdigest()


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _listed(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except FileNotFoundError:
        return []
