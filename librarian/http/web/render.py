"""Renders pages from templates: every text is escaped, and only our own scripts and files load."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from librarian.base.problems import Problem, problem_of
from librarian.causal.contracts import CausalOutput
from librarian.causal.svg import svg, visible
from librarian.http.responses import error_headers, problem_of_routing
from librarian.http.web.languages import LANGUAGE_COOKIE, LANGUAGES, language_of
from librarian.http.web.session import Session, Sessions
from librarian.http.web.shipped import address_of
from librarian.http.web.strings import translator
from librarian_agents.sweep.sections import without_sections
from librarian_agents.sweep.template import Section
from retrieval.text import language

if TYPE_CHECKING:
    from jinja2 import Environment

HEADERS: Mapping[str, str] = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_SECTION = re.compile(rf"^## ({'|'.join(Section)})$", re.MULTILINE)
_ROOM = re.compile(r"\n{3,}")
_YEAR_S = 365 * 24 * 3600


def page(
    request: Request, template: str, *, status: int = 200, headers: Mapping[str, str] | None = None, **values: Any
) -> Response:
    """Answer with a page rendered from `template` and `values`, in the visitor's language."""
    text = _environment().get_template(template).render(**_surroundings(request), **values)
    answer = Response(text, status, {**HEADERS, **(headers or {})}, media_type="text/html")
    chosen = request.query_params.get("lang")
    if chosen in LANGUAGES:
        secure = request.url.scheme == "https"
        answer.set_cookie(LANGUAGE_COOKIE, chosen, max_age=_YEAR_S, httponly=True, samesite="lax", secure=secure)
    return answer


def error_page(request: Request, error: Exception) -> Response:
    """Answer with the problem of `error` as a page."""
    problem = problem_of(error, request_id=request.state.request_id)
    return _problem_page(request, problem, error_headers(error))


def routing_page(request: Request, error: HTTPException) -> Response:
    """Answer for Starlette's own refusals: unknown path or method."""
    return _problem_page(request, problem_of_routing(request, error), error.headers)


def _problem_page(request: Request, problem: Problem, headers: Mapping[str, str] | None) -> Response:
    return page(request, "problem.html", status=problem.status, headers=headers, problem=problem)


def _surroundings(request: Request) -> dict[str, Any]:
    """Return the values available to every template."""
    state = request.state
    session: Session | None = getattr(state, "session", None)
    sessions: Sessions = state.sessions
    namespace = getattr(state, "namespace", "")
    shown_in = language_of(request)
    return {
        "_": translator(shown_in),
        "lang": shown_in,
        "here": partial(here, request),
        "path": _path(request),
        "said": request.query_params.get("said", ""),
        "key": session and session.key,
        "token": session and sessions.token(session.id),
        "namespace": namespace,
        "link": partial(link, namespace),
        "drawn": partial(_drawn, namespace),
    }


def link(namespace: str, path: str, **query: str | None) -> str:
    """Return the address of a page in the current namespace."""
    sent = {"ns": namespace, **query}
    query_string = urlencode({name: value for name, value in sent.items() if value})
    return quote(path, safe="/:@") + (f"?{query_string}" if query_string else "")


def here(request: Request, **changes: str) -> str:
    """Return the address of the current page with some parameters changed."""
    kept = [(name, value) for name, value in request.query_params.multi_items() if name not in (*changes, "said")]
    query_string = urlencode([*kept, *changes.items()])
    return _path(request) + (f"?{query_string}" if query_string else "")


def plain(text: str) -> str:
    """Return a text without its sections' headings, tags and circumstances, and without the gaps that they leave."""
    return _ROOM.sub("\n\n", without_sections(text))


def _path(request: Request) -> str:
    """Return the path as sent; Starlette's URL drops characters invalid in one, such as line breaks."""
    return quote(request.scope["path"], safe="/:@")


def _drawn(namespace: str, found: CausalOutput) -> Markup:
    """Return the drawing, in which every item links to its page."""
    return Markup(svg(found, link=lambda uid: link(namespace, f"/items/{uid}")))  # noqa: S704 - svg() escapes all texts


def _spoken(text: str) -> Markup:
    """Return the `lang` attribute, by which browsers choose glyphs and voice; Han characters alone may be Japanese."""
    spoken = language(text)
    return Markup(f' lang="{spoken}"') if spoken in ("ja", "ko") else Markup()  # noqa: S704 - one of two constants


def _parted(text: str, quote: str | None) -> tuple[str, str, str]:
    """Split the text at its first `quote` into before, quote and after; all of it is before if there is none."""
    return text.partition(quote) if quote else (text, "", "")


def _sectioned(text: str) -> list[tuple[str, str]]:
    """Return the sections of a text by name; text outside of sections has an empty name."""
    before, *rest = _SECTION.split(text)
    named = zip(rest[::2], rest[1::2], strict=True)
    return [(name.capitalize(), body.strip()) for name, body in (("", before), *named) if body.strip()] or [("", text)]


def _time(moment: datetime | str | None) -> str:
    if isinstance(moment, datetime):
        return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return moment or ""


def _finalized(value: Any) -> Any:
    """Return a value for a page, without control characters, which would hide or reverse the text beside them."""
    if isinstance(value, Markup):
        return value
    return visible(value) if isinstance(value, str) else value


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("librarian.http.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_finalized,
    )
    made.globals.update(static=address_of, languages=LANGUAGES)
    made.filters.update(parted=_parted, plain=plain, sectioned=_sectioned, time=_time, spoken=_spoken)
    return made
