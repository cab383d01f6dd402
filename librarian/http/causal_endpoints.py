"""The operations on causes and effects."""

from typing import Any

from librarian.contracts.causal import (
    CausalInput,
    CausalOutput,
    ContradictionList,
    ContradictionQuery,
    CycleList,
    CycleQuery,
    NeighbourhoodQuery,
    PathOutput,
    PathQuery,
)
from librarian.errors import NotFound
from librarian.http.endpoints import Endpoint
from librarian.http.routes.causal import (
    blockers_of,
    causes_of,
    effects_of,
    enablers_of,
    list_contradictions,
    list_cycles,
    neighbourhood,
    path_between,
)


def _about_an_item(name: str, handler: Any, query: Any = CausalInput) -> Endpoint[None, Any]:
    return Endpoint(
        method="GET",
        path=f"/v1/graph/{name}",
        handler=handler,
        scope="read",
        query=query,
        answers={200: CausalOutput},
        errors=(NotFound,),
    )


CAUSAL_OPERATIONS: tuple[Endpoint[Any, Any], ...] = (
    _about_an_item("causes", causes_of),
    _about_an_item("effects", effects_of),
    _about_an_item("blockers", blockers_of),
    _about_an_item("enablers", enablers_of),
    _about_an_item("neighbourhood", neighbourhood, NeighbourhoodQuery),
    Endpoint(
        method="GET",
        path="/v1/graph/path",
        handler=path_between,
        scope="read",
        query=PathQuery,
        answers={200: PathOutput},
        errors=(NotFound,),
    ),
    Endpoint(
        method="GET",
        path="/v1/graph/contradictions",
        handler=list_contradictions,
        scope="read",
        query=ContradictionQuery,
        answers={200: ContradictionList},
    ),
    Endpoint(
        method="GET",
        path="/v1/graph/cycles",
        handler=list_cycles,
        scope="read",
        query=CycleQuery,
        answers={200: CycleList},
    ),
)
