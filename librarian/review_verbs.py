"""What `librarian.service.Librarian` lets a human decide."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator

from librarian.audit import actor, audit
from librarian.contracts.reviews import ReviewInput, ReviewList, ReviewOutput, ReviewQuery
from librarian.lifecycle import Parts
from librarian.usecases import reviews
from librarian.usecases.review_labels import Label, labels


class ReviewVerbs(ABC):
    """What `librarian.service.Librarian` lets a human decide: edges, types and merges that sweeps propose."""

    @property
    @abstractmethod
    def parts(self) -> Parts:
        """What this Librarian works with. Raises NotReady."""

    @abstractmethod
    def wake(self) -> None:
        """Let the worker encode texts that have changed."""

    async def list_reviews(self, namespace: str, query: ReviewQuery) -> ReviewList:
        """One page of what there is to review, or was reviewed. Raises InvalidInput for another query's cursor."""
        return await reviews.list_reviews(self.parts.executor, namespace, query)

    async def review(self, namespace: str, review_id: str, given: ReviewInput) -> ReviewOutput:
        """Accept or reject what is proposed; the same decision again changes nothing.

        Raises NotFound, InvalidInput, and Conflict where a human has decided otherwise before.
        """
        done = await reviews.review(self.parts.executor, namespace, review_id, given, actor.get())
        if done.decided:
            audit("review", namespace, review_id=review_id, sort=done.review.sort, state=done.review.state)
            self.wake()
        return done

    def review_labels(self, namespace: str) -> AsyncIterator[Label]:
        """Everything that was accepted or rejected, as labelled texts for training and measuring."""
        return labels(self.parts.executor, namespace)
