"""The list of pages, and the application's answers with pages."""

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from librarian.http.endpoints import Endpoint, routes_of
from librarian.http.middleware import as_json
from librarian.http.responses import routing_problem
from librarian.http.web.pages import for_browsers, page_endpoint, wants_page
from librarian.http.web.render import error_page, routing_page
from librarian.http.web.shipped import STATIC_ROUTE
from librarian.http.web.views.changes import (
    correct_item,
    edit_item,
    forget_item,
    keep_again,
    keep_item,
    link_item,
    pin_item,
    restore_item,
    show_change,
    unlink_items,
)
from librarian.http.web.views.explorer import ExplorerPage, show_explorer
from librarian.http.web.views.health import NamespacesPage, show_health, show_namespaces
from librarian.http.web.views.items import ItemPage, show_item
from librarian.http.web.views.login import login, login_form, logout
from librarian.http.web.views.reviews import (
    ReviewsPage,
    decide_edge,
    decide_many,
    decide_review,
    show_edge,
    show_reviews,
)
from librarian.http.web.views.search import SearchPage, show_search
from librarian.http.web.views.sweeps import confirm_undo, show_sweep, show_sweeps, undo_sweep
from librarian.http.web.views.uploads import keep_upload, preview_upload, show_upload, undo_upload
from librarian.sweep.contracts import SweepQuery

PAGES: tuple[Endpoint[Any, Any], ...] = (
    page_endpoint("/login", login_form, None),
    page_endpoint("/login", login, None, method="POST"),
    page_endpoint("/logout", logout, None, method="POST"),
    page_endpoint("/", show_search, "read", query=SearchPage),
    page_endpoint("/items/{uid}", show_item, "read", query=ItemPage),
    page_endpoint("/remember", keep_item, "write", method="POST"),
    page_endpoint("/items/{uid}/change", show_change, "read"),
    page_endpoint("/items/{uid}/edit", edit_item, "write", method="POST"),
    page_endpoint("/items/{uid}/pin", pin_item, "write", method="POST"),
    page_endpoint("/items/{uid}/restore", restore_item, "write", method="POST"),
    page_endpoint("/items/{uid}/correct", correct_item, "write", method="POST"),
    page_endpoint("/items/{uid}/link", link_item, "write", method="POST"),
    page_endpoint("/items/{uid}/forget", forget_item, "write", method="POST"),
    page_endpoint("/items/{uid}/again", keep_again, "write", method="POST", in_parts=True),
    page_endpoint("/upload", show_upload, "write"),
    page_endpoint("/upload", preview_upload, "write", method="POST", in_parts=True),
    page_endpoint("/upload/keep", keep_upload, "write", method="POST", in_parts=True),
    page_endpoint("/upload/undo", undo_upload, "write", method="POST", in_parts=True),
    page_endpoint("/edges/{edge_id}/unlink", unlink_items, "write", method="POST"),
    page_endpoint("/explore/{uid}", show_explorer, "read", query=ExplorerPage),
    page_endpoint("/reviews", show_reviews, "read", query=ReviewsPage),
    page_endpoint("/reviews", decide_review, "write", method="POST", query=ReviewsPage),
    page_endpoint("/reviews/all", decide_many, "write", method="POST", query=ReviewsPage),
    page_endpoint("/edges/{edge_id}", show_edge, "read"),
    page_endpoint("/edges/{edge_id}", decide_edge, "write", method="POST"),
    page_endpoint("/sweeps", show_sweeps, "sweep", query=SweepQuery),
    page_endpoint("/sweeps/{sweep_id}", show_sweep, "sweep", query=SweepQuery),
    page_endpoint("/sweeps/{sweep_id}/undo", confirm_undo, "sweep"),
    page_endpoint("/sweeps/{sweep_id}/undo", undo_sweep, "sweep", method="POST"),
    page_endpoint("/namespaces", show_namespaces, "read", namespaced=False, query=NamespacesPage),
    page_endpoint("/health", show_health, "any", namespaced=False),
)

WEB_ROUTES: list[Route] = [*routes_of(PAGES, for_browsers), STATIC_ROUTE]


def respond(scope: Scope, error: Exception) -> Response:
    """Answer a failed request: a page for browsers, problem+json for programs."""
    return error_page(Request(scope), error) if wants_page(scope) else as_json(scope, error)


async def respond_unrouted(request: Request, error: Exception) -> Response:
    """Answer for an unknown path or method."""
    if isinstance(error, HTTPException) and wants_page(request.scope):
        return routing_page(request, error)
    return await routing_problem(request, error)
