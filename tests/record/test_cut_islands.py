"""Runs of real islands, killed in any generation, give the same result on other ranks."""

import itertools
import os
import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from fakes import DeadError, Quiet
from problems_for_tests import facilities, knapsack
from starts_for_tests import facts, rows

from islands.backends import choose
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.engine import pace as pace
from islands.engine.build import islands_of
from islands.engine.single import Output, PreparedRun
from islands.migration.transport import InHostMemory
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress.usage import Machine
from islands.testing.ranks import on_ranks

pytestmark = pytest.mark.slow

GENERAL: dict[str, Any] = {"islands": 5, "population": 8, "seed": 3, "improver": "none"}
LAST = 23
GENERAL |= {"stop": f"generations={LAST}", "record.every": 4, "checkpoint.every": "1e-9"}
AWAY: dict[str, Any] = {"migration": "random", "interval": 5, "migrants": 1, "migration.delay": 1}
ALGORITHMS: dict[str, tuple[Callable[[], Problem], dict[str, Any]]] = {
    "brkga": (lambda: facilities(9), {**AWAY, "elite": 0.25, "mutants": 0.125, "reset": 4}),
    "de": (lambda: facilities(9), {**AWAY, "adaptation": "jde", "migration": "ring"}),
    "cellular": (lambda: facilities(9), {**AWAY, "replacement": "generational", "reset": 4}),
    "cellular with a halo": (lambda: facilities(9), {"halo": True, "replacement": "generational"}),
    "ga": (lambda: knapsack(20, 3), {**AWAY, "infeasible": "linear", "migration": "hypercube"}),
    "pso": (
        lambda: knapsack(20, 3),
        {**AWAY, "infeasible": "dynamic", "schedule": "linear", "horizon": 9, "reset": 4},
    ),
}
SAME = ("digest", "cost", "island", "best_generation", "evaluations", "reason")


@pytest.fixture(autouse=True)
def _checkpoints_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a checkpoint after each generation, quickly."""
    monkeypatch.setattr(pace, "_STEP_SECONDS", 0.0)
    monkeypatch.setattr(os, "fsync", lambda _: None)


def run(name: str, folder: Path, ranks: int, *, dies_at: int | None = None, **options: Any) -> None:
    """Perform one start of a run, and kill it in generation `dies_at`."""
    made, settings = ALGORITHMS[name]
    request = {"algorithm": name.partition(" ")[0], **GENERAL, **settings, **options}

    def one(world: World) -> None:
        resolved = resolve(Request.of(request), made())
        transport = InHostMemory if ranks > 1 else None
        mine = islands_of(resolved, world, choose("cpu", 1), transport=transport)
        advance = mine.advance

        def dying(generations: int) -> None:
            advance(generations)
            if mine.generation == dies_at:
                world.barrier()  # all ranks have completed the previous steps
                raise DeadError

        mine.advance = dying
        machine = Machine(ranks, "cpu", "CPU", "requested", mine.transport, 0.0, compiles=False)
        output = Output(stream=StringIO(), quiet=True)
        whole = (resolved, world, mine, machine, Quiet, output, folder)
        PreparedRun(*whole, resumes=True).perform()

    folder.mkdir(exist_ok=True)
    try:
        on_ranks(ranks, one)
    except DeadError:
        assert dies_at is not None
    else:
        assert dies_at is None


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_killed_run_gives_the_result_of_an_uninterrupted_one(name: str, tmp_path: Path) -> None:
    cut, whole = tmp_path / "cut", tmp_path / "whole"
    run(name, whole, 1, **{"checkpoint.every": "0"})
    # Migrants leave after generations 5, 10, 15 and 20, and arrive five generations later: there
    # are checkpoints before they leave, in flight, and after they arrive.
    for generation, ranks in zip(
        range(1, LAST + 1), itertools.cycle((2, 3, 1, 5, 4)), strict=False
    ):
        run(name, cut, ranks, dies_at=generation)
    run(name, cut, 2)
    log = (cut / "log.txt").read_text()
    resumed = [int(each) for each in re.findall(r"resumed from generation (\d+)", log)]
    assert resumed == list(range(LAST))
    assert {key: facts(cut)[key] for key in SAME} == {key: facts(whole)[key] for key in SAME}
    assert solution(cut) == solution(whole)
    trace, migrations = rows(whole, "trace"), rows(whole, "migrations")
    assert (rows(cut, "trace"), rows(cut, "migrations")) == (trace, migrations)
    migrates = "migration" in ALGORITHMS[name][1]
    came = {(row["epoch"], row["generation"]) for row in migrations}
    assert came == ({(1, 10), (2, 15), (3, 20)} if migrates else set())
    visits = {0, 4, 8, 12, 16, 20, LAST} | ({5, 10, 15} if migrates else set())
    assert {row["generation"] for row in trace} == visits


def solution(folder: Path) -> list[int]:
    return list(pq.read_table(folder / "solution.parquet").column(0).to_pylist())
