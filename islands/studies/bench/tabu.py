"""Tabu search: exchanges evaluated per second on a GPU, on one CPU thread, and by a plain loop."""

from collections.abc import Iterator
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.backends import choose
from islands.backends.arguments import Struct
from islands.backends.base import Backend, Room, scratch_bytes
from islands.backends.source import Source
from islands.errors import RunError
from islands.improvers import ImproverSettings
from islands.improvers.orders import Tabu
from islands.instances.qaplib import QapFile
from islands.problems.qap import Qap
from islands.studies.bench.base import BenchRequest, spread, table, timed
from islands.tables import Row

SIZES = (30, 60, 100, 150, 256)
_ENTRIES = 100
_SEED = 1
_GPU_SEARCHES = 2112  # several per concurrent block of a GPU
_GPU_STEPS = 1000
_CPU_EVALUATIONS = 4 * 10**7  # approximately, in a repeat, which no signal can interrupt
_REPEATS = 5

TABLE = table("tabu")


def measure(request: BenchRequest) -> Iterator[Row]:
    """Measure each size on each backend; on one thread of the CPU, also the plain loop."""
    for name in request.backends:
        backend = choose(name, 1 if name == "cpu" else request.threads)
        for size in request.heartbeat.over(SIZES, f"n={{}} on {name}".format):
            effort = _GPU_SEARCHES, _GPU_STEPS
            if name == "cpu":
                effort = 1, min(50_000, _CPU_EVALUATIONS // (size * (size - 1) // 2))
            searches = TabuSearches(backend, size, *effort)
            yield searches.measured("kernel")
            if name == "cpu":
                yield searches.measured("loop")
            searches.check()


class TabuSearches:
    """Concurrent searches from random orders on one backend."""

    def __init__(self, backend: Backend, size: int, searches: int, steps: int) -> None:
        self._backend, self._size, self._searches, self._steps = backend, size, searches, steps
        self._problem = random_qap(size)
        rng = np.random.default_rng(_SEED)
        orders = np.stack([rng.permutation(size) for _ in range(searches)]).astype(np.int32)
        self._start = backend.upload(orders)
        self._data = [backend.upload(array) for array in self._problem.arrays()]
        self.orders: dict[str, NDArray[np.int32]] = {}
        self.costs: dict[str, NDArray[np.int64]] = {}

    def measured(self, name: str) -> Row:
        """Return the speed of a program, after a first run that is not counted."""
        orders = self._backend.empty((self._searches, self._size), np.int32)
        costs = self._backend.empty((self._searches,), np.int64)
        call = self._call(name, orders, costs)
        times = timed(self._backend, _REPEATS, lambda: self._backend.run([call]))
        self.orders[name] = self._backend.download(orders)
        self.costs[name] = self._backend.download(costs)
        typical = median(times)
        evaluations = self._searches * self._steps * self._size * (self._size - 1) // 2
        return TABLE.row(
            program=name,
            device=self._backend.device,
            size=self._size,
            searches=self._searches,
            steps=self._steps,
            milliseconds=typical,
            spread=spread(times),
            evaluations_per_second=1000 * evaluations / typical,
            microseconds_a_step=1000 * typical / self._steps / self._searches,
            best=int(self.costs[name].min()),
        )

    def check(self) -> None:
        """Raise if a cost is wrong or the programs end at different orders."""
        for name, orders in self.orders.items():
            for order in orders:
                self._problem.check(order.astype(np.int64))
            costs, exact = self.costs[name], self._problem.costs(orders.astype(np.int64))
            if not np.array_equal(costs, exact):
                raise RunError(f"{name}, n={self._size}: costs {costs} are not the exact {exact}")
            if not np.array_equal(orders, self.orders["kernel"]):
                raise RunError(f"n={self._size}: the {name} ends at other orders than the kernel")

    def _call(self, name: str, orders: Any, costs: Any) -> Any:
        macros = self._problem.defines()
        tabu = Tabu(ImproverSettings(steps=self._steps), self._size)
        data = Struct(**{str(place): array for place, array in enumerate(self._data)})
        structs = {"improver::Plan": tabu.plan()}
        if name == "kernel":
            parts = {"ISLANDS_PROBLEM": '"problems/qap.cuh"', **tabu.defines()}
            source = Source(
                "bench/tabu.cuh", {**parts, **macros}, {**structs, "problem::Data": data}
            )
            room = self._backend.required_room(source, data, tabu.plan(), np.int32(self._size))
        else:
            room = Room(scratch_bytes(4 * self._size) + 2 * scratch_bytes(4 * self._size**2))
            source = Source("bench/tabu_loop.cuh", macros, {**structs, "loop::Data": data})
        needed = tabu.block(self._problem) if name == "kernel" else None
        block = self._backend.block(room, tabu.items(), self._searches, 32, needed=needed)
        return self._backend.call(
            self._backend.compile(source, block),
            "tabu" if name == "kernel" else "tabu_loop",
            data,
            tabu.plan(),
            np.uint64(_SEED),
            np.int32(self._searches),
            np.int32(self._size),
            *(self._start, orders, costs),
            blocks=self._searches,
            room=room,
        )


def random_qap(n: int) -> Qap:
    """Return a problem with symmetric matrices of uniformly random entries, like tai*a."""
    matrices = np.random.PCG64(_SEED).random_raw(2 * n * n) % np.uint64(_ENTRIES)
    halves = [np.triu(matrix, 1) for matrix in matrices.astype(np.int64).reshape(2, n, n)]
    a, b = (half + half.T for half in halves)
    return Qap(QapFile(f"random{n}", None, n, a, b))
