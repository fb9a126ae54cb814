"""Tour lengths that a user defines in CUDA or Python, compared with the built-in problem."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.backends import choose
from islands.modelling.api import permutation
from islands.problems.base import Problem
from islands.studies.bench.algorithms import BRKGA, cities
from islands.studies.bench.base import BenchRequest, table
from islands.tables import Row

INSTANCES = {"national/zi929": 929, "national/mu1979": 1979}
WAYS = ("built-in", "cooperative", "matrix", "coordinates", "batch")


def _in_cuda(*names: str) -> str:
    """Return the source of a cost in CUDA, from files in `kernels/`."""
    folder = Path(__file__).with_name("kernels")
    return "".join((folder / f"{name}.cuh").read_text(encoding="utf-8") for name in names)


def _in_python(lengths: NDArray[np.int32]) -> Callable[[Any], Any]:
    """Return a cost in Python, for batches of orders in NumPy or CuPy arrays."""
    copies: dict[type, Any] = {}
    n = len(lengths)

    def costs(orders: Any) -> Any:
        kind = type(orders)
        if kind not in copies:
            copies[kind] = np.asarray(lengths, like=orders)  # on the GPU if the orders are there
        # CuPy indexes a flat array in one kernel, and needs several for pairs of indices.
        edges = n * orders[:, :-1] + orders[:, 1:]
        last = n * orders[:, -1] + orders[:, 0]
        return copies[kind].take(edges).sum(axis=1) + copies[kind].take(last)

    return costs


def model_of(way: str, tsp: Problem) -> Problem:
    """Return an instance with rounded Euclidean distances, with its cost in one of the `WAYS`."""
    if way == "built-in":
        return tsp
    [places] = tsp.arrays()
    x, y = places.T
    exact = np.sqrt((x[:, None] - x) ** 2 + (y[:, None] - y) ** 2)
    lengths = (exact + 0.5).astype(np.int32)
    if way == "batch":
        return permutation(tsp.size, name=tsp.instance, batch=_in_python(lengths))
    return permutation(
        tsp.size,
        name=tsp.instance,
        cost=_in_cuda("matrix") if way == "matrix" else _in_cuda("rounded", way),
        cooperative=way == "cooperative",
        data={"lengths": lengths} if way == "matrix" else {"places": places},
    )


TABLE = table("decoders")


def measure(request: BenchRequest) -> Iterator[Row]:
    """Measure all `WAYS` on each backend and instance."""
    for name in request.backends:
        backend = choose(name, request.threads)
        for instance in request.heartbeat.over(INSTANCES, f"{{}} on {name}".format):
            tsp = cities(instance, INSTANCES[instance])
            built_in = math.nan
            for way in WAYS:
                result = BRKGA.measured(
                    backend, model_of(way, tsp), "xavier2019", 1, None, request.generations
                )
                if way == "built-in":
                    built_in = result.milliseconds
                yield TABLE.row(
                    device=backend.device,
                    instance=tsp.instance,
                    decoder=way,
                    milliseconds=result.milliseconds,
                    spread=result.spread,
                    ratio=result.milliseconds / built_in,
                    cost=result.cost,
                )
