"""The operations of reviews."""

from typing import Any

from librarian.contracts.reviews import ReviewInput, ReviewList, ReviewOutput, ReviewQuery
from librarian.errors import Conflict, NotFound
from librarian.http.endpoints import Endpoint, json_of
from librarian.http.routes.reviews import list_reviews, post_review

REVIEW_OPERATIONS: tuple[Endpoint[Any, Any], ...] = (
    Endpoint(
        method="GET",
        path="/v1/reviews",
        handler=list_reviews,
        scope="read",
        query=ReviewQuery,
        answers={200: ReviewList},
    ),
    Endpoint(
        method="POST",
        path="/v1/reviews/{review_id}",
        handler=post_review,
        scope="write",
        body=json_of(ReviewInput),
        answers={200: ReviewOutput},
        errors=(NotFound, Conflict),
    ),
)
