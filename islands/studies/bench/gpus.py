"""Speed and time to a target on 1, 2, 4, ... of the started ranks: the gain from more GPUs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from islands.backends.cpu import share_of_cores
from islands.engine.build import RankOptions, take_device
from islands.modelling.api import permutation
from islands.parallel import powers_of_two
from islands.problems import loaded
from islands.problems.base import Problem
from islands.studies.bench import gpus_rows
from islands.studies.bench.base import BenchRequest
from islands.studies.bench.gpus_rows import SPEED, TARGET, GpuRunRow, Runs
from islands.studies.bench.quality import EVERY, named
from islands.studies.bench.quality_runs import facts, program
from islands.studies.bench.variants import Method, Variant, variants
from islands.tables import Row

SLEEP = "sleep"
"""An instance with a cost in Python that waits, as for an external program."""
SLEEP_SECONDS = 0.005
_ITEMS = 50


def waiting(order: NDArray[Any]) -> int:
    """Return the cost of an order after 5 ms."""
    time.sleep(SLEEP_SECONDS)
    return int(abs(order[1:] - order[:-1]).sum())


_SLEEP_SETTINGS = {"algorithm": "ga", "islands": 1, "population": 256}
"""Settings of `sleep`: one island, whose many evaluations are divided among the ranks."""


def measure(request: BenchRequest) -> Iterator[Row]:
    """Return the rows of each instance; every rank returns those of rank 0; collective.

    Reject invalid methods and instances immediately, not when the first row is requested.
    """
    world = request.world
    methods = world.run_on_all(lambda: variants(request.variant))
    problems = world.run_on_all(lambda: [_loaded(name) for name in named(request.of)])
    threads = request.threads or world.bcast(share_of_cores(world.local_size))
    cases = world.run_on_all(
        lambda: [_Case(request, p, variant, threads) for p in problems for variant in methods]
    )
    return _measured(request, cases)


def _measured(request: BenchRequest, cases: Sequence[_Case]) -> Iterator[Row]:
    world = request.world
    # Reject too few GPUs now, not when the largest number of ranks begins.
    take_device(world, request.backends[0], request.threads, share_gpu=request.share_gpu)
    rows, laws = list[Row](), list[Row]()
    work = [(case, SPEED) for case in cases]
    work += [(case, TARGET) for case in cases if case.has_target]
    most = len(powers_of_two(world.size)) * request.seeds * request.limit
    for case, purpose in request.heartbeat.over(
        work, lambda item: f"{item[1]} of {item[0].problem.instance}", seconds=most
    ):
        runs = case.runs(purpose)
        yield from (gpus_rows.RUNS.row_of(row) for ranks in runs.values() for row in ranks)
        gaps = request.gap if purpose == TARGET else ()
        new_rows = [*gpus_rows.speed_rows(runs)] if purpose == SPEED else []
        new_rows += [row for gap in gaps for row in gpus_rows.target_rows(gap, runs)]
        yield from new_rows
        rows += new_rows
        laws += [law for gap in gaps for law in gpus_rows.law_rows(gap, runs)]
    yield from laws
    yield from gpus_rows.mean_rows(rows)


class _Case:
    """A variant on an instance, with its runs on each number of ranks."""

    def __init__(
        self, request: BenchRequest, problem: Problem, variant: Variant, threads: int
    ) -> None:
        self.request, self.problem = request, problem
        self.has_target = problem.best_known is not None
        backend, most = request.backends[0], powers_of_two(request.world.size)[-1]
        if problem.instance == SLEEP:
            variant = replace(variant, request=variant.request.filled(_SLEEP_SETTINGS))
            threads = request.threads or 1
        gap = min(request.gap)
        ends = [f"gap={gap:.17g}%" if gap else "best-known"] if self.has_target else []
        # The defaults of some algorithms depend on the time limit, so speed runs have it, too.
        stop = [*ends, f"seconds={request.limit:g}"]
        options = {"backend": backend, "threads": threads, "stop": stop}
        every = {TARGET: request.every or EVERY[backend], SPEED: None}

        def method(ranks: int, purpose: str) -> Method:
            gpus = {"sized_for_gpus": ranks if request.own_defaults else most}
            sized = replace(variant, request=variant.request.filled(gpus))
            return sized.resolved(problem, every[purpose], options)

        self._sizes = powers_of_two(request.world.size)
        self._methods = {(n, purpose): method(n, purpose) for n in self._sizes for purpose in every}

    def runs(self, purpose: str) -> Runs:
        """Return runs by number of ranks; each seed runs on all of them in turn; collective."""
        stop = self._stop() if purpose == SPEED else ()
        rows: dict[int, list[GpuRunRow]] = {ranks: [] for ranks in self._sizes}
        for seed in range(1, self.request.seeds + 1):
            for ranks, own_rows in rows.items():
                own_rows.append(self._row(ranks, purpose, seed, stop))
        return rows

    def _stop(self) -> list[str]:
        """Return the stopping criterion of speed runs: what one rank does in half of the limit."""
        generations = self.request.stop
        if generations is None:
            half = [f"seconds={self.request.limit / 2:g}"]
            generations = max(1, self._row(1, SPEED, 1, half, "trial").generations)
        return [f"generations={generations}"]

    def _row(
        self, ranks: int, purpose: str, seed: int, stop: Sequence[str], words: str = ""
    ) -> GpuRunRow:
        method, request = self._methods[ranks, purpose], self.request
        resolved = method.run(seed, stop)
        settings = resolved.spec.to_mapping()
        key = {"bench": "gpus", "settings": settings, "ranks": ranks, **program()}

        def run() -> dict[str, Any]:
            options = RankOptions(share_gpu=request.share_gpu)
            result = request.campaign.on_first(
                ranks, lambda part: gpus_rows.run_fields(resolved, part, options)
            )
            return request.world.bcast(result)  # only rank 0 has the course

        detail = f"{method.name}, ranks {ranks}, {words or f'seed {seed}'}"
        return GpuRunRow(
            **facts(self.problem),
            **request.campaign.result(key, run, detail),
            **method.cells(),
            seed=seed,
            limit=request.limit,
            purpose=purpose,
            settings=gpus_rows.digest_of(settings),
        )


def _loaded(name: str) -> Problem:
    if name == SLEEP:
        return permutation(_ITEMS, function=waiting, name=SLEEP)
    return loaded(name)
