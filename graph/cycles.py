"""Cycles of a directed graph: the nodes on them, and the shortest ones. Pure functions."""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence

Graph = Mapping[str, Sequence[str]]


def shortest_cycles(links: Iterable[tuple[str, str]], limit: int) -> tuple[list[list[str]], bool]:
    """Return up to `limit` cycles as nodes in order, each starting with its smallest: for every node on a cycle the
    shortest one through it, without duplicates. Also return whether nodes on cycles were left unsearched.
    """
    graph = _graph(links)
    found: dict[tuple[str, ...], None] = {}
    covered: set[str] = set()
    for component in sorted(map(sorted, components(graph))):
        members = set(component)
        for node in component:
            if node in covered:
                continue
            if len(found) == limit:
                return [list(cycle) for cycle in found], True
            cycle = _shortest_through(node, graph, members)
            covered.update(cycle)
            found[_rotated(cycle)] = None
    return [list(cycle) for cycle in found], False


def components(graph: Graph) -> list[list[str]]:
    """Return the strongly connected components of two nodes or more (Tarjan 1972, without recursion)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    waiting: set[str] = set()
    found: list[list[str]] = []
    for root in graph:
        if root in index:
            continue
        calls = [(root, iter(graph.get(root, ())))]
        index[root] = low[root] = len(index)
        stack.append(root)
        waiting.add(root)
        while calls:
            node, successors = calls[-1]
            following = next(successors, None)
            if following is None:
                calls.pop()
                if calls:
                    low[calls[-1][0]] = min(low[calls[-1][0]], low[node])
                if low[node] == index[node]:
                    found.append(_taken(stack, waiting, node))
            elif following not in index:
                index[following] = low[following] = len(index)
                stack.append(following)
                waiting.add(following)
                calls.append((following, iter(graph.get(following, ()))))
            elif following in waiting:
                low[node] = min(low[node], index[following])
    return [component for component in found if len(component) > 1]


def _graph(links: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    graph: dict[str, list[str]] = defaultdict(list)
    for source, target in sorted(set(links)):
        graph[source].append(target)
    return graph


def _taken(stack: list[str], waiting: set[str], root: str) -> list[str]:
    component = []
    while True:
        node = stack.pop()
        waiting.discard(node)
        component.append(node)
        if node == root:
            return component


def _shortest_through(node: str, graph: Graph, members: set[str]) -> list[str]:
    """Return the shortest cycle through a node of a strongly connected component: there is one."""
    before: dict[str, str] = {}
    queue = deque([node])
    while node not in before:
        current = queue.popleft()
        for following in graph[current]:
            if following in members and following not in before:
                before[following] = current
                queue.append(following)
    cycle = [before[node]]
    while cycle[-1] != node:
        cycle.append(before[cycle[-1]])
    return cycle[::-1]


def _rotated(cycle: Sequence[str]) -> tuple[str, ...]:
    first = cycle.index(min(cycle))
    return (*cycle[first:], *cycle[:first])
