"""Every page there is, and how the application answers with pages."""

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from librarian.contracts.sweeps import SweepQuery
from librarian.http.middleware import as_json
from librarian.http.responses import routing_problem
from librarian.http.web.pages import Page, routes_of_pages, wants_page
from librarian.http.web.render import error_page, routing_page
from librarian.http.web.shipped import STATIC_ROUTE
from librarian.http.web.views.health import NamespacesPage, show_health, show_namespaces
from librarian.http.web.views.items import ItemPage, show_item
from librarian.http.web.views.login import login, login_form, logout
from librarian.http.web.views.reviews import ReviewsPage, decide_edge, decide_review, show_edge, show_reviews
from librarian.http.web.views.search import SearchPage, show_search
from librarian.http.web.views.sweeps import confirm_undo, show_sweep, show_sweeps, undo_sweep

PAGES: tuple[Page[Any], ...] = (
    Page(path="/", handler=show_search, scope="read", query=SearchPage),
    Page(path="/items/{uid}", handler=show_item, scope="read", query=ItemPage),
    Page(path="/reviews", handler=show_reviews, scope="read", query=ReviewsPage),
    Page(path="/reviews", handler=decide_review, scope="write", method="POST", query=ReviewsPage),
    Page(path="/edges/{edge_id}", handler=show_edge, scope="read"),
    Page(path="/edges/{edge_id}", handler=decide_edge, scope="write", method="POST"),
    Page(path="/sweeps", handler=show_sweeps, scope="sweep", query=SweepQuery),
    Page(path="/sweeps/{sweep_id}", handler=show_sweep, scope="sweep", query=SweepQuery),
    Page(path="/sweeps/{sweep_id}/undo", handler=confirm_undo, scope="sweep"),
    Page(path="/sweeps/{sweep_id}/undo", handler=undo_sweep, scope="sweep", method="POST"),
    Page(path="/namespaces", handler=show_namespaces, scope="read", namespaced=False, query=NamespacesPage),
    Page(path="/health", handler=show_health, scope="any", namespaced=False),
)

WEB_ROUTES: list[Route] = [
    *routes_of_pages(PAGES, [("/login", {"GET": login_form, "POST": login}), ("/logout", {"POST": logout})]),
    STATIC_ROUTE,
]


def respond(scope: Scope, error: Exception) -> Response:
    """Answer for a request that failed: a page for browsers, problem+json for programs."""
    return error_page(Request(scope), error) if wants_page(scope) else as_json(scope, error)


async def respond_unrouted(request: Request, error: Exception) -> Response:
    """Answer for a path or method that there is not."""
    if isinstance(error, HTTPException) and wants_page(request.scope):
        return routing_page(request, error)
    return await routing_problem(request, error)
