"""Time limits, weights and seeds for all functions of the backend."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import islands

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LEAST_SECONDS = 0.05
_LARGEST = 2**30
"""Maximum weight in a search, where weights are integers."""
_LARGEST_WEIGHT = 1e300
"""Maximum weight of a graph, so that sums of weights are finite."""
_SMALL = 50
"""Maximum number of nodes for which a search ends when it has converged."""


class Clock:
    """The time limit of a call, and searches within it."""

    def __init__(self, graph: Any, seconds: Any) -> None:
        """Start the clock; drop a cached graph, about which networkx would warn."""
        from islands.calls import seconds_of  # imports NumPy

        cache = getattr(graph, "__networkx_cache__", None) or {}
        cache.get("backends", {}).pop("islands", None)
        self.seconds = seconds_of(seconds)
        self._end = time.perf_counter() + self.seconds

    def left(self) -> float:
        """Return the remaining seconds, at least the minimum of a search."""
        left: float = self.of_first_rank(lambda: self._end - time.perf_counter())
        return max(left, _LEAST_SECONDS)

    def of_first_rank(self, function: Callable[[], Any]) -> Any:
        """Return the value of a function on the first rank, as it may depend on time."""
        from islands.parallel import world  # imports NumPy

        return world().from_first(function)

    def solution(self, problem: Any, stop: Sequence[str] = (), **settings: Any) -> Any:
        """Return the best solution of a search in the remaining time."""
        if problem.size <= _SMALL:
            stop = [*stop, "converged"]
        stop = [*stop, f"seconds={self.left()}"]
        settings["record"] = {"every": max(1, 2000 // problem.size)}  # checks the time often
        return islands.solve(problem, stop=stop, **settings).solution


def seed_of(random: Any) -> int:
    """Return a seed, the same on all ranks, from a number or a generator.

    networkx converts the seeds of most functions to generators before the call.
    """
    from networkx.utils import create_py_random_state

    from islands.calls import is_whole  # imports NumPy
    from islands.parallel import world

    if random is None:
        return 1
    if is_whole(random):
        return int(random) % 2**31
    # All ranks draw, so that equal generators stay equal.
    drawn = int(create_py_random_state(random).randrange(2**31 - 1))
    return world().from_first(lambda: drawn)


def number_of(weight: Any, *nodes: Any, may_be_infinite: bool = False) -> float:
    """Return the weight of an edge or a node as a number; reject an invalid one."""
    number = math.nan
    if not isinstance(weight, str | bytes):
        with suppress(TypeError, ValueError, OverflowError):
            number = float(weight)
    if abs(number) <= _LARGEST_WEIGHT or (may_be_infinite and math.isinf(number)):
        return number
    owner = f"the edge {nodes}" if len(nodes) > 1 else f"the node {nodes[0]!r}"
    limit = "finite" if math.isinf(number) else f"a number of magnitude at most {_LARGEST_WEIGHT}"
    raise ValueError(f"the weight {weight!r} of {owner}: must be {limit}")


def moderate(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights scaled by a power of two so that the maximum is from 1 to 2^20.

    Products and sums are then finite, and larger than the tolerances of solvers.
    """
    import numpy as np

    exponent = int(np.frexp(np.abs(weights).max(initial=0.0))[1])
    scaled: NDArray[np.float64] = np.ldexp(weights, 20 - exponent)
    return weights if 0 < exponent <= 20 else scaled


def whole(weights: Any) -> NDArray[np.int64]:
    """Return weights as integers: unchanged if they are whole, otherwise scaled to nine digits."""
    import numpy as np

    values = np.asarray(weights, float)
    finite = np.isfinite(values)
    if not finite.all():
        raise ValueError(f"the weight {values[~finite].ravel()[0]} is not finite")
    if (np.abs(values) > _LARGEST).any() or (values != np.rint(values)).any():
        values = moderate(values)
        values = values * (_LARGEST / float(np.abs(values).max()))
    rounded: NDArray[np.int64] = np.rint(values).astype(np.int64)
    return rounded


def weights_of(graph: Any, weight: str | None) -> list[float]:
    """Return the weight of each node, by default 1."""
    weights = [
        1.0 if weight is None else number_of(data.get(weight, 1), node)
        for node, data in graph.nodes(data=True)
    ]
    for node, number in zip(graph, weights, strict=True):
        if number < 0:
            raise ValueError(f"the weight {number} of the node {node!r}: must be at least 0")
    return weights
