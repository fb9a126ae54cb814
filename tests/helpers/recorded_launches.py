"""Launches of small runs, recorded instead of compiled: which kernels get which arguments."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from problems_for_tests import NUMBERS, cities, facilities, knapsack, lattice

from islands.backends.arguments import Arguments
from islands.backends.base import Block, Call, CompiledProgram, Room, arena
from islands.backends.cpu import CpuBackend
from islands.backends.source import Source
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.engine.build import islands_of
from islands.parallel import World
from islands.problems.base import Problem


@dataclass(frozen=True)
class Launch:
    source: Source
    kernel: str
    arguments: Sequence[Any]


class Recorder(CpuBackend):
    """A CPU backend that compiles nothing and records the arguments of launches."""

    def __init__(self) -> None:
        super().__init__(1)
        self.launches: list[Launch] = []

    def compile(self, source: Source, block: Block) -> CompiledProgram:
        return CompiledProgram([source], block)

    def call(
        self,
        program: CompiledProgram,
        kernel: str,
        *arguments: Any,
        blocks: int,
        room: Room | None = None,
        threads: int | None = None,
    ) -> Call:
        given = arguments if room is None else (arena(None, room.large), *arguments)
        self.launches.append(Launch(program.handle(kernel), kernel, given))
        return Call(None, blocks, 1, 0, Arguments(given, self.address))

    def run(self, calls: Sequence[Call], times: int = 1) -> None:
        """Run nothing."""

    def required_room(self, source: Source, *arguments: Any) -> Room:
        request = self.zeros((2,), np.int64)
        self.launches.append(Launch(source, "room", (*arguments, request)))
        return Room(64)


CASES: dict[str, tuple[Callable[[], Problem], dict[str, Any]]] = {
    "brkga": (lambda: cities(9), {"algorithm": "brkga"}),
    "de": (
        lambda: facilities(9, symmetric="neither", diagonal=True),
        {"algorithm": "de", "adaptation": "jde", "improver": "tabu"},
    ),
    "matrix": (lambda: cities(9, "GEO"), {"algorithm": "de"}),
    "ga": (lambda: facilities(9), {"algorithm": "ga", "encoding": "permutation"}),
    "eax": (lambda: cities(9), {"algorithm": "eax"}),
    "or_opt": (lambda: cities(9), {"algorithm": "ga", "improver": "or_opt"}),
    "outside": (
        lambda: facilities(9),
        {"algorithm": "ga", "encoding": "permutation", "decoding": "host"},
    ),
    "tempering": (lambda: facilities(9), {"algorithm": "tempering"}),
    "core": (lambda: knapsack(20, 3), {"algorithm": "tempering"}),
    "memetic": (lambda: facilities(9), {"algorithm": "memetic", "improver": "tabu"}),
    "halo": (
        lambda: lattice("CEIL_2D"),
        {"algorithm": "cellular", "halo": True, "migration": "none", "improver": "two_opt"},
    ),
    "torus": (
        lambda: knapsack(20, 3),
        {"algorithm": "cellular", "encoding": "bits", "improver": "tabu", "reset": 3},
    ),
    "swarm": (
        lambda: knapsack(40, 2),
        {"algorithm": "pso", "encoding": "bits", "infeasible": "dynamic", "improver": "exchange"},
    ),
    "vector": (lambda: NUMBERS["vector"](9), {"algorithm": "pso"}),
    "raw keys": (lambda: NUMBERS["keys"](9), {"algorithm": "de"}),
    "keys": (
        lambda: knapsack(40, 2),
        {
            "algorithm": "brkga", "decoding": "sorted", "migration.selection": "roulette",
            "migration.replacement": "random",
        },
    ),
}  # fmt: skip


@cache
def recorded(case: str) -> Recorder:
    make, options = CASES[case]
    problem, backend = make(), Recorder()
    request = {"islands": 2, "population": 16, "stop": "generations=9", "migrants": 1}
    request |= {"migration": "ring", "improver": "none"} | options
    islands_of(resolve(Request.of(request), problem), World(), backend)
    return backend
