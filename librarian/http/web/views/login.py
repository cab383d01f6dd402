"""Login with an API key, and logout. These pages check their visitors themselves."""

import re

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from librarian.base.errors import Unauthenticated
from librarian.http.auth import admitted, known
from librarian.http.endpoints import Call
from librarian.http.web.forms import TOKEN_FIELD, Form, form_of
from librarian.http.web.render import HEADERS, page
from librarian.http.web.session import (
    Sessions,
    log_in,
    log_out,
    remember_visitor,
    session_of,
    visitor_of,
)

# A path of this service that no browser could read as another host.
_OWN_PATH = re.compile(r"/(?![/\\])[^\x00-\x20\x7f\\]*")


async def login_form(call: Call[Form, None]) -> Response:
    """Ask for an API key."""
    request = call.request
    target = own_path(request.query_params.get("next", ""))
    if session_of(request) is not None:
        return RedirectResponse(target, 303, HEADERS)
    return _form(request, target)


async def login(call: Call[Form, None]) -> Response:
    """Start a session for a valid key, and redirect to the requested page."""
    request = call.request
    form = await form_of(request)
    target, visitor = own_path(form.get("next", "")), visitor_of(request)
    if visitor is None:  # the form was open for too long, or cookies are off
        return _form(request, target, fault="expired", status=403)
    sessions: Sessions = request.state.sessions
    sessions.check_token(visitor, form.get(TOKEN_FIELD, ""))
    try:
        key = known(request, form.get("key", ""))
    except Unauthenticated:
        return _form(request, target, fault="wrong", status=401)
    admitted(request, key, "any")
    answer = RedirectResponse(target, 303, HEADERS)
    log_in(request, answer, sessions.begin(key))
    return answer


async def logout(call: Call[Form, None]) -> Response:
    """End the session of this browser."""
    request = call.request
    form, session = await form_of(request), session_of(request)
    if session is not None:
        sessions: Sessions = request.state.sessions
        sessions.check_token(session.id, form.get(TOKEN_FIELD, ""))
    answer = RedirectResponse("/login", 303, HEADERS)
    log_out(request, answer)
    return answer


def own_path(target: str) -> str:
    """Return `target` if it leads to a page of this service, else the first page."""
    return target if _OWN_PATH.fullmatch(target) else "/"


def _form(request: Request, target: str, *, fault: str = "", status: int = 200) -> Response:
    sessions: Sessions = request.state.sessions
    cookie, visitor = sessions.visit()
    answer = page(request, "login.html", status=status, target=target, fault=fault, visit_token=sessions.token(visitor))
    remember_visitor(request, answer, cookie)
    return answer
