"""Speed and time to a target on 1, 2, 4, ... of the started ranks: what more GPUs gain.

All numbers of ranks have the same settings, those of the most ranks, and thus the same solutions:
`digests` compares them. With --own-defaults, defaults follow the number of GPUs.
Speed: over the same generations after generation 0, whose time is apart. A problem without a best
known value has no targets. Exchange: between ranks that share an island, with waiting for each
other there. Waiting: elsewhere, of ranks with work. Idle: ranks without work.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from islands.backends.cpu import share_of_cores
from islands.bench.base import BenchRequest
from islands.bench.gpus_rows import (
    RUNS,
    SPEED,
    TARGET,
    GpuRunRow,
    Runs,
    digest_of,
    law_rows,
    mean_rows,
    ran,
    speed_rows,
    target_rows,
)
from islands.bench.quality import EVERY, named
from islands.bench.quality_runs import facts, program
from islands.bench.variants import Variant, variants
from islands.configuration.spec import RunSpec
from islands.configuration.stop import parse
from islands.modelling.api import permutation
from islands.parallel import World, powers_of_two
from islands.problems import loaded
from islands.problems.base import Problem
from islands.run.build import RankOptions, take_device
from islands.tables import Row

SLEEP = "sleep"
"""An instance with a cost in Python that only waits, as for another program."""
SLEEP_SECONDS = 0.005
_ITEMS = 50


def waiting(order: NDArray[Any]) -> int:
    """Return a cost of an order after 5 ms."""
    time.sleep(SLEEP_SECONDS)
    return int(abs(order[1:] - order[:-1]).sum())


SLEEP_SETTINGS = {"algorithm": "ga", "islands": 1, "population": 256}
"""Settings with which an island has much to divide."""


def sleeping() -> Problem:
    """Return the problem, whose best known value nobody needs."""
    return permutation(_ITEMS, function=waiting, name=SLEEP)


def measure(request: BenchRequest) -> Iterator[Row]:
    """Return the rows of each instance, those of rank 0 on every rank; collective.

    Refuse wrong methods, instances and machines at once, before the first row is asked for.
    """
    world = request.world
    methods = world.run_on_all(lambda: variants(request.variant))
    problems = world.run_on_all(lambda: [_loaded(name) for name in named(request.of)])
    threads = request.threads or world.bcast(share_of_cores(world.local_size))
    sizes = powers_of_two(world.size)
    cases = world.run_on_all(
        lambda: [
            _Case(request, each, variant, threads, sizes)
            for each in problems
            for variant in methods
        ]
    )
    return _measured(request, cases)


def _measured(request: BenchRequest, cases: Sequence[_Case]) -> Iterator[Row]:
    world = request.world
    # Too few GPUs are refused now, not when the largest number of ranks begins.
    take_device(world, request.backends[0], request.threads, share_gpu=request.share_gpu)
    parts = {ranks: world.part(ranks) for ranks in powers_of_two(world.size)}
    rows, laws = list[Row](), list[Row]()
    work = [(case, SPEED) for case in cases]
    work += [(case, TARGET) for case in cases if case.has_target]
    most = len(parts) * request.seeds * request.limit
    for case, purpose in request.heartbeat.over(
        work, lambda each: f"{each[1]} of {each[0].problem.instance}", seconds=most
    ):
        runs = _Runs(request, case, parts).made(purpose)
        yield from (RUNS.row_of(row) for ranks in runs.values() for row in ranks)
        gaps = request.gap if purpose == TARGET else ()
        found = [*speed_rows(runs)] if purpose == SPEED else []
        found += [row for gap in gaps for row in target_rows(gap, runs)]
        yield from found
        rows += found
        laws += [law for gap in gaps for law in law_rows(gap, runs)]
    yield from laws
    yield from mean_rows(rows)


class _Case:
    """A method on an instance, with its settings on each number of ranks."""

    def __init__(
        self,
        request: BenchRequest,
        problem: Problem,
        variant: Variant,
        threads: int,
        sizes: Sequence[int],
    ) -> None:
        self.problem, self.variant = problem, variant
        self.backend, self.has_target = request.backends[0], problem.best_known is not None
        self._request = request
        if problem.instance == SLEEP:
            self.variant = replace(variant, options={**SLEEP_SETTINGS, **variant.options})
            threads = request.threads or 1
        self._options = {"backend": self.backend, "threads": threads, "seed": 1}
        # The defaults of some algorithms follow the time limit, also those of a speed.
        self._options["stop"] = [*self._ends, f"seconds={request.limit:g}"]
        every = request.every or EVERY[self.backend]
        of_ranks = {ranks: ranks if request.own_defaults else sizes[-1] for ranks in sizes}
        self._specs = {
            (ranks, purpose): self._resolved(gpus, every if purpose == TARGET else None)
            for ranks, gpus in of_ranks.items()
            for purpose in (TARGET, SPEED)
        }

    def spec(self, ranks: int, purpose: str, seed: int, stop: Sequence[str] = ()) -> RunSpec:
        """Return a run on a number of ranks, with its usual end for the purpose or another one."""
        spec = self._specs[ranks, purpose]
        general = spec.general.replace({"seed": seed})
        return replace(spec, general=general, stop=tuple(map(parse, stop)) or spec.stop)

    @property
    def _ends(self) -> list[str]:
        if not self.has_target:
            return []
        gap = min(self._request.gap)
        return [f"gap={gap:.17g}%" if gap else "best-known"]

    def _resolved(self, gpus: int, every: int | None) -> RunSpec:
        options = {**self._options, "gpus": self.variant.options.get("gpus", gpus)}
        return self.variant.resolved(self.problem, every, options)[0]


@dataclass(frozen=True)
class _Runs:
    """The runs of a case on all numbers of ranks."""

    request: BenchRequest
    case: _Case
    parts: Mapping[int, World | None]
    """The world of the first ranks, for each number of ranks; None on the other ranks."""

    def made(self, purpose: str) -> Runs:
        """Return the runs, with each seed on all numbers of ranks in turn; collective."""
        stop = self._stop if purpose == SPEED else ()
        rows: dict[int, list[GpuRunRow]] = {ranks: [] for ranks in self.parts}
        for seed in range(1, self.request.seeds + 1):
            for ranks, mine in rows.items():
                spec = self.case.spec(ranks, purpose, seed, stop)
                mine.append(self._row(spec, ranks, purpose))
        return rows

    @cached_property
    def _stop(self) -> list[str]:
        """How a run for the speed ends: after the generations of one rank in half of the limit."""
        generations = self.request.stop
        if generations is None:
            spec = self.case.spec(1, SPEED, 1, [f"seconds={self.request.limit / 2:g}"])
            generations = max(1, self._row(spec, 1, SPEED, "trial").generations)
        return [f"generations={generations}"]

    def _row(self, spec: RunSpec, ranks: int, purpose: str, words: str = "") -> GpuRunRow:
        case, request = self.case, self.request
        settings = spec.to_mapping()
        asked = {"bench": "gpus", "settings": settings, "ranks": ranks, **program()}
        seed = words or f"seed {spec.general.seed}"
        detail = f"{case.variant.name}, ranks {ranks}, {seed}"

        def run() -> dict[str, Any]:
            part = self.parts[ranks]
            options = RankOptions(share_gpu=request.share_gpu)
            made = {} if part is None else ran(spec, case.problem, part, options)
            request.world.wait_for_all()  # without a processor, unlike the next message
            return request.world.bcast(made)

        return GpuRunRow(
            **facts(case.problem),
            **request.campaign.result(asked, run, detail),
            backend=case.backend,
            method=case.variant.name,
            seed=spec.general.seed,
            limit=request.limit,
            purpose=purpose,
            settings=digest_of(settings),
        )


def _loaded(name: str) -> Problem:
    return sleeping() if name == SLEEP else loaded(name)
