"""Reviews of what sweeps propose."""

from collections.abc import AsyncIterator, Callable

from librarian.base.audit import actor, audit
from librarian.runtime.lifecycle import Lifecycle
from librarian.sweep import reviews
from librarian.sweep.contracts import ReviewInput, ReviewList, ReviewOutput, ReviewQuery
from librarian.sweep.reviews import Label, labels


class ReviewsRoom:
    """Lets a human decide on the edges, types and merges that sweeps propose. `wake` is called when texts have
    changed.
    """

    def __init__(self, lifecycle: Lifecycle, wake: Callable[[], None]) -> None:
        self._lifecycle = lifecycle
        self._wake = wake

    async def list_reviews(self, namespace: str, query: ReviewQuery) -> ReviewList:
        """One page of what there is to review, or was reviewed. Raises InvalidInput for another query's cursor."""
        return await reviews.list_reviews(self._lifecycle.parts.executor, namespace, query)

    async def review(self, namespace: str, review_id: str, given: ReviewInput) -> ReviewOutput:
        """Accept or reject what is proposed; the same decision again changes nothing.

        Raises NotFound, InvalidInput, and Conflict where a human has decided otherwise before.
        """
        done = await reviews.review(self._lifecycle.parts.executor, namespace, review_id, given, actor.get())
        if done.decided:
            audit("review", namespace, review_id=review_id, sort=done.review.sort, state=done.review.state)
            self._wake()
        return done

    def review_labels(self, namespace: str) -> AsyncIterator[Label]:
        """Everything that was accepted or rejected, as labelled texts for training and measuring."""
        return labels(self._lifecycle.parts.executor, namespace)
