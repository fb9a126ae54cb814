"""Tours as a user models them, compared with the built-in problem.

BRKGA with the settings of Xavier 2019 on published instances, and the tour's length: built-in, in
CUDA for all threads of a block, in CUDA for one thread from a matrix or from coordinates, and in
Python for all solutions at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.backends import choose
from islands.modelling.api import permutation
from islands.problems.base import Problem
from islands.studies.bench.algorithms import BRKGA, cities
from islands.studies.bench.base import BenchRequest
from islands.tables import Column, Row, Table

INSTANCES = {"national/zi929": 929, "national/mu1979": 1979}
WAYS = ("built-in", "cooperative", "matrix", "coordinates", "batch")

_ROUNDED = """
__device__ int length(double2 a, double2 b) {
    const double dx = a.x - b.x, dy = a.y - b.y;
    return int(sqrt(dx * dx + dy * dy) + 0.5);
}

__device__ double2 at(const Data& data, int city) {
    return reinterpret_cast<const double2*>(data.places)[city];
}
"""
_COOPERATIVE = (
    _ROUNDED
    + """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int i = 4 * threadIdx.x; i < n; i += 4 * blockDim.x) {
        const int4 four = s.four(i);
        const int edges = min(4, n - i);
        const double2 a = at(data, four.x);
        const double2 next = at(data, s[i + edges < n ? i + edges : 0]);
        const double2 b = edges > 1 ? at(data, four.y) : next;
        const double2 c = edges > 2 ? at(data, four.z) : next;
        const double2 d = edges > 3 ? at(data, four.w) : next;
        sum += length(a, b);
        if (edges > 1) sum += length(b, c);
        if (edges > 2) sum += length(c, d);
        if (edges > 3) sum += length(d, next);
    }
    return block::sum(sum);
}
"""
)
_FROM_MATRIX = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    int from = s[n - 1];
    for (int i = 0; i < n; ++i) {
        const int to = s[i];
        sum += data.lengths[from * n + to];
        from = to;
    }
    return sum;
}
"""
_FROM_PLACES = (
    _ROUNDED
    + """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    double2 from = at(data, s[n - 1]);
    for (int i = 0; i < n; ++i) {
        const double2 to = at(data, s[i]);
        sum += length(from, to);
        from = to;
    }
    return sum;
}
"""
)


def _in_python(lengths: NDArray[np.int32]) -> Callable[[Any], Any]:
    """Return a batch function for NumPy and CuPy arrays."""
    copies: dict[type, Any] = {}
    n = len(lengths)

    def costs(orders: Any) -> Any:
        kind = type(orders)
        if kind not in copies:
            copies[kind] = np.asarray(lengths, like=orders)  # on the GPU if the orders are there
        # CuPy takes from a flat array in one kernel, and needs several for pairs of indices.
        edges = n * orders[:, :-1] + orders[:, 1:]
        last = n * orders[:, -1] + orders[:, 0]
        return copies[kind].take(edges).sum(axis=1) + copies[kind].take(last)

    return costs


def model_of(way: str, tsp: Problem) -> Problem:
    """Return the tours of an instance with rounded Euclidean distances, modelled in one way."""
    if way == "built-in":
        return tsp
    [places] = tsp.arrays()
    x, y = places.T
    exact = np.sqrt((x[:, None] - x) ** 2 + (y[:, None] - y) ** 2)
    lengths = (exact + 0.5).astype(np.int32)
    ways: dict[str, dict[str, Any]] = {
        "cooperative": {"cost": _COOPERATIVE, "cooperative": True, "data": {"places": places}},
        "matrix": {"cost": _FROM_MATRIX, "data": {"lengths": lengths}},
        "coordinates": {"cost": _FROM_PLACES, "data": {"places": places}},
        "batch": {"batch": _in_python(lengths)},
    }
    return permutation(tsp.size, name=tsp.instance, **ways[way])


TABLE = Table(
    "decoders",
    (
        Column("device", "device", 17, "<.17"),
        Column("instance", "instance", 18, "<"),
        Column("decoder", "decoder", 12, "<"),
        Column("milliseconds", "ms/generation", form=".4f"),
        Column("spread", "spread", form=".1%"),
        Column("ratio", "of built-in", form=".3f"),
        Column("cost"),
    ),
)
"""The ratio is the time of a generation over that of the built-in decoder. The cost is the same for
all decoders of an instance and a number of generations."""


def measure(request: BenchRequest) -> Iterator[Row]:
    """Measure all ways on each backend and instance."""
    for name in request.backends:
        backend = choose(name, request.threads)
        for instance in request.heartbeat.over(INSTANCES, f"{{}} on {name}".format):
            tsp = cities(instance, INSTANCES[instance])
            built_in = math.nan
            for way in WAYS:
                found = BRKGA.measured(
                    backend, model_of(way, tsp), "xavier2019", 1, None, request.generations
                )
                if way == "built-in":
                    built_in = found.milliseconds
                yield TABLE.row(
                    device=backend.device,
                    instance=tsp.instance,
                    decoder=way,
                    milliseconds=found.milliseconds,
                    spread=found.spread,
                    ratio=found.milliseconds / built_in,
                    cost=found.cost,
                )
