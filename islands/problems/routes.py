"""Chains of cities, which result from fixed edges and from the ends of a path."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.errors import UsageError
from islands.instances.tsplib import TspFile
from islands.problems import messages
from islands.text import shown

Edge = tuple[int, int]
Ends = tuple[int | None, int | None]
ANY = "any"
"""An unspecified end of a path, as in `0:any`."""
_IN_A_LINE = 100


def parsed_ends(text: str) -> Ends:
    """Return the ends of a path in a text such as `0:7` or `0:any`."""
    words = text.split(":")
    if len(words) != 2 or not all(word.isdecimal() or word == ANY for word in words):
        raise UsageError(
            f"ends={shown(text, str)}: must be the first and the last city, counted from 0, such as"
            f" 0:7, or {ANY} for any city, as in 0:{ANY}"
        )
    start, end = (None if word == ANY else int(word) for word in words)
    return start, end


def ends_text(ends: Ends) -> str:
    """Return the text that `parsed_ends` reads."""
    return ":".join(ANY if city is None else str(city) for city in ends)


def ends_of(start: Any, end: Any) -> Ends:
    """Return the ends of a path; None and `any` stand for any city."""
    for name, city in (("start", start), ("end", end)):
        is_number = isinstance(city, int | np.integer) and not isinstance(city, bool)
        if not (is_number or _is_any(city)):
            raise UsageError(
                f'{name}={shown(city)}: must be the number of a city, counted from 0, or "{ANY}"'
            )
    first, last = (None if _is_any(city) else int(city) for city in (start, end))
    return first, last


def _is_any(city: Any) -> bool:
    return city is None or (isinstance(city, str) and city == ANY)


def parsed_edges(text: str) -> tuple[Edge, ...]:
    """Return the edges in a text such as `3-5,8-2`."""
    pairs = [pair.strip().split("-") for pair in text.split(",")]
    if not all(len(pair) == 2 and all(map(str.isdecimal, pair)) for pair in pairs):
        raise UsageError(
            f"fixed={shown(text, str)}: must be pairs of cities, counted from 0, such as 3-5,8-2"
        )
    return tuple((int(one), int(other)) for one, other in pairs)


def edges_texts(edges: Sequence[Edge]) -> list[str]:
    """Return comma-separated texts for `parsed_edges`, split to limit the line length."""
    words = [f"{one}-{other}" for one, other in edges]
    return [",".join(words[k : k + _IN_A_LINE]) for k in range(0, len(words), _IN_A_LINE)]


def edges_of(fixed: Any) -> tuple[Edge, ...]:
    """Return edges from pairs of cities."""
    try:
        pairs = [(operator.index(one), operator.index(other)) for one, other in fixed]
    except Exception as error:  # arbitrary objects may raise any error
        raise UsageError(
            f"fixed={shown(fixed)}: must be pairs of cities, counted from 0, such as [(3, 5)]"
        ) from error
    return tuple(pairs)


def require_route(file: TspFile, legs: NDArray[np.int32], *, is_symmetric: bool) -> None:
    """Reject ends and fixed edges that are impossible or not part of the instance.

    A leg below 0 is forbidden.
    """
    n, ends = file.dimension, file.ends or (None, None)
    for name, city in zip(("start", "end"), ends, strict=True):
        if city is not None and not 0 <= city < n:
            raise messages.wrong_route(file, f"{name}={city}: must be a city from 0 to {n - 1}")
    start, end = ends
    if start is not None and start == end and n > 1:
        raise messages.equal_ends(file, city=start)
    seen: set[Edge] = set()
    for edge in file.fixed:
        if not all(0 <= city < n for city in edge) or edge[0] == edge[1]:
            raise messages.wrong_route(file, f"fixed: {edge} must be two cities from 0 to {n - 1}")
        if legs[edge] < 0:
            raise messages.forbidden_edge(file, edge=edge)
        same = {edge, edge[::-1]} if is_symmetric else {edge}
        if same & seen:
            raise messages.wrong_route(file, f"fixed: {edge} is given twice. Leave one out")
        seen.add(edge)
    is_allowed = np.greater_equal(legs, 0)
    np.fill_diagonal(is_allowed, n == 1)
    last = _without_legs(file, is_allowed, "leads from", "last", end, start)
    _without_legs(file, is_allowed.T, "leads to", "first", start, last)


def _without_legs(
    file: TspFile,
    is_allowed: NDArray[np.bool_],
    words: str,
    side: str,
    end: int | None,
    other: int | None,
) -> int | None:
    """Return the city at an end of a path that needs no leg; reject other rows without legs.

    If the `end` is not given, it is the city without legs that is not the `other` end.
    """
    lost: list[int] = np.flatnonzero(~is_allowed.any(axis=1)).tolist()
    if end is None:
        end = next((city for city in lost if city != other), None)
    if wrong := [city for city in lost if file.ends is None or city != end]:
        raise messages.city_without_legs(file, city=wrong[0], direction=words, side=side)
    return end


@dataclass(frozen=True)
class CityChains:
    """The chains of a route: every city, including the one that closes a path, belongs to one."""

    items: list[list[int]]
    """Chains of several cities come first."""
    pairs: int
    """Number of chains with several cities."""
    file: TspFile
    are_directed: bool

    @property
    def has_two_ends(self) -> bool:
        """Whether the ends of a chain are two items, as it may be traversed in either direction."""
        return not self.are_directed and len(self.items) > 1

    @classmethod
    def of(cls, file: TspFile, *, is_symmetric: bool) -> CityChains:
        """Return the chains; reject edges that branch, or a cycle without the other cities."""
        n, edges = file.dimension, list(file.fixed)
        if file.ends is not None:
            start, end = file.ends
            edges += [(end, n)] if end is not None and n > 1 else []
            edges += [(n, start)] if start is not None else []
        count = n + (file.ends is not None)
        before, after = _linked(file, count, edges, is_directed=not is_symmetric)
        chains, left = [], np.ones(count, np.bool_)
        for city in range(count):
            # A chain begins at a city without incoming edges; if symmetric, with at most one edge.
            if left[city] and len(before[city]) <= is_symmetric:
                chains.append(_followed(city, after, left))
        if left.all():
            # No chain has ends: begin at the city that closes a path, if any.
            chains.append(_followed(count - 1, after, left))
        if left.any():
            raise messages.cycle(
                file, city=int(np.argmax(left)), has_ends=len(left) > n and bool(left[n])
            )
        chains.sort(key=lambda chain: len(chain) == 1)
        return cls(chains, sum(len(chain) > 1 for chain in chains), file, not is_symmetric)

    @property
    def cities(self) -> NDArray[np.int64]:
        """The city of each item, where the ends of chain k are the items 2 k and 2 k + 1."""
        many, single = self.items[: self.pairs], self.items[self.pairs :]
        ends = [city for chain in many for city in (chain[0], chain[-1])]
        return np.array([*ends, *(chain[0] for chain in single)], np.int64)

    def to_items(self, tours: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return tours, a single one or one per row, as items in order."""
        rows = np.atleast_2d(tours)
        if self.file.ends is not None:
            rows = np.column_stack([rows, np.full(len(rows), self.file.dimension)])
        number = np.full(rows.shape[1], -1)
        cities = self.cities if self.has_two_ends else [chain[0] for chain in self.items]
        number[cities] = np.arange(len(cities))
        items = number[rows]
        numbers = items[items >= 0].reshape(len(rows), -1)
        return numbers.reshape(*tours.shape[:-1], -1)

    def from_items(self, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a tour of items, or one per row, as cities, without the one that closes a path.

        A chain whose ends are not adjacent is broken before its last city.
        """
        rows = np.atleast_2d(items).tolist()
        tours = np.array([self._route(self._cities(row)) for row in rows], np.int64)
        return tours.reshape(*items.shape[:-1], -1)

    def _cities(self, items: list[int]) -> list[int]:
        if not self.has_two_ends:
            return [city for item in items for city in self.items[item]]
        cities: list[int] = []
        doubled = 2 * self.pairs
        for k, item in enumerate(items):
            chain = self.items[item // 2 if item < doubled else item - self.pairs]
            if item >= doubled or len(chain) == 1:
                cities += chain
            elif item % 2 == 0:
                # A chain is reversed if its last city comes just before its first, cyclically.
                comes_after = items[k - 1] == item + 1 and items[(k + 1) % len(items)] != item + 1
                inside = chain[1:-1]
                cities += [*inside[::-1], chain[0]] if comes_after else [chain[0], *inside]
            else:
                cities.append(chain[-1])
        return cities

    def _route(self, cities: list[int]) -> list[int]:
        if self.file.ends is None:
            return cities
        at = cities.index(self.file.dimension)
        path = cities[at + 1 :] + cities[:at]
        start, end = self.file.ends
        is_reversed = path[-1] == start if start is not None else path[0] == end
        return path[::-1] if is_reversed and not self.are_directed and len(path) > 1 else path


def _linked(
    file: TspFile, count: int, edges: Sequence[Edge], *, is_directed: bool
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the predecessors and successors of each city; if symmetric, both are neighbours."""
    before, after = ([list[int]() for _ in range(count)] for _ in range(2))
    for one, other in edges:
        after[one].append(other)
        before[other].append(one)
    if not is_directed:
        before = after = [[*some, *others] for some, others in zip(before, after, strict=True)]
    for city in range(count):
        if max(len(before[city]), len(after[city])) > (1 if is_directed else 2):
            raise messages.meeting_edges(
                file,
                city=city,
                edges=[edge for edge in edges if city in edge],
                is_directed=is_directed,
            )
    return before, after


def _followed(city: int, after: Sequence[list[int]], left: NDArray[np.bool_]) -> list[int]:
    """Return the chain that begins at a city, and remove its cities from `left`."""
    chain: list[int] = []
    while True:
        chain.append(city)
        left[city] = False
        following = [other for other in after[city] if left[other]]
        if not following:
            return chain
        city = following[0]
