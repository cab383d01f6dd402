"""Sessions of the web page: a signed cookie names an API key by its id, and never holds the key.

The key is checked with every request, so that revoking it ends its sessions at once.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from itsdangerous import BadData, Signer, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import Response

from librarian.base.errors import Forbidden
from librarian.base.keys import ApiKey, KeyFile, secret_in

SESSION_S = 12 * 3600
_FORM_S = 3600
_DIGEST_CHARS = 16


@dataclass(frozen=True, slots=True)
class Session:
    """One login: its own `id`, and its `key` as currently in the key file."""

    id: str
    key: ApiKey


class Sessions:
    """Makes and reads the cookies, which every process with the same secret can read."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._logins = self._serializer("session")
        self._visits = self._serializer("visit")
        self._forms = Signer(secret, salt="librarian.form", key_derivation="hmac", digest_method=hashlib.sha256)

    def begin(self, key: ApiKey) -> str:
        """Return the cookie of a new session of `key`."""
        return self._logins.dumps([secrets.token_urlsafe(16), key.id, key.sha256[:_DIGEST_CHARS]])

    def read(self, cookie: str, keys: KeyFile) -> Session | None:
        """Return the session of a cookie; None unless it is ours, not expired, and its key is still valid."""
        match _loaded(self._logins, cookie, SESSION_S):
            case [str(session_id), str(key_id), str(digest)]:
                key = next((key for key in keys.list() if key.id == key_id), None)
                # An operator may reuse an id for a new key, which is a different key.
                if key is None or not hmac.compare_digest(key.sha256[:_DIGEST_CHARS], digest):
                    return None
                return Session(session_id, key) if key.is_valid_at(datetime.now(UTC)) else None
        return None

    def visit(self) -> tuple[str, str]:
        """Return a new cookie for a visitor about to log in, with the visitor's id."""
        visitor = secrets.token_urlsafe(16)
        return self._visits.dumps(visitor), visitor

    def visitor(self, cookie: str) -> str | None:
        """Return the visitor of a cookie from `visit`; None for any other cookie."""
        found = _loaded(self._visits, cookie, _FORM_S)
        return found if isinstance(found, str) else None

    def token(self, owner: str) -> str:
        """Return the CSRF token of a form: a signature of its session or visitor."""
        return self._forms.get_signature(owner).decode("ascii")

    def check_token(self, owner: str, sent: str) -> None:
        """Raise Forbidden unless `sent` is the token of `owner`."""
        if not self._forms.verify_signature(owner, sent.encode("ascii", "replace")):
            raise Forbidden(
                "This form does not belong to your session.", remedy="Load the page again and send it once more."
            )

    def _serializer(self, use: str) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(
            self._secret,
            salt=f"librarian.{use}",
            signer_kwargs={"key_derivation": "hmac", "digest_method": hashlib.sha256},
        )


def cookie_secret(path: Path) -> bytes:
    """Return the secret in `path`, created on first use. Raises SettingsError for an unusable file."""
    return secret_in(path, "LIBRARIAN_COOKIE_SECRET_FILE")


def session_of(request: Request) -> Session | None:
    """Return the session of the request's cookie."""
    sessions: Sessions = request.state.sessions
    return sessions.read(request.cookies.get(_login_cookie(request), ""), request.state.keys)


def visitor_of(request: Request) -> str | None:
    """Return the visitor about to log in."""
    sessions: Sessions = request.state.sessions
    return sessions.visitor(request.cookies.get(_visit_cookie(request), ""))


def log_in(request: Request, response: Response, cookie: str) -> None:
    """Set the session cookie."""
    _set(request, response, _login_cookie(request), cookie, SESSION_S)
    _set(request, response, _visit_cookie(request), "", 0)


def log_out(request: Request, response: Response) -> None:
    """Delete the session cookie."""
    _set(request, response, _login_cookie(request), "", 0)


def remember_visitor(request: Request, response: Response, cookie: str) -> None:
    """Set the cookie that the login form belongs to."""
    _set(request, response, _visit_cookie(request), cookie, _FORM_S)


def _set(request: Request, response: Response, name: str, value: str, max_age: int) -> None:
    response.set_cookie(name, value, max_age=max_age, httponly=True, samesite="strict", secure=_is_secure(request))


def _login_cookie(request: Request) -> str:
    return _prefix(request) + "librarian"


def _visit_cookie(request: Request) -> str:
    return _prefix(request) + "librarian-visit"


def _prefix(request: Request) -> str:
    """Return the cookie's name; under TLS its prefix keeps neighbouring domains from setting it."""
    return "__Host-" if _is_secure(request) else ""


def _is_secure(request: Request) -> bool:
    return request.url.scheme == "https"


def _loaded(serializer: URLSafeTimedSerializer, cookie: str, max_age_s: int) -> Any:
    try:
        return serializer.loads(cookie, max_age=max_age_s)
    except BadData:
        return None
