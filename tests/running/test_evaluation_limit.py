"""With local search, a run ends at the generation in which it reaches its limit of evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from problems_for_tests import cities

import islands
from islands.backends import choose
from islands.backends.base import Backend
from islands.cli import main
from islands.configuration.resolve import layers, resolve
from islands.record.solution import recorded
from islands.run.concurrent import run_concurrently
from islands.testing.ranks import on_ranks

N = 30
SEARCHING: dict[str, Any] = {
    "algorithm": "ga",
    "encoding": "permutation",
    "population": 20,
    "islands": 2,
    "seed": 5,
    "improver": "swap",
    "improver.rate": 0.5,
    "improver.steps": 1,
    "interval": 20,
    "record.every": 20,
}


def counted(problem: Any, backend: str, every: int, last: int) -> list[int]:
    """Return the number of evaluations after each generation with local search."""
    solver = islands.Solver(problem, backend=backend, **SEARCHING | {"improver.every": every})
    found = []
    for _ in range(last // every):
        solver.evolve(every)
        found.append(sum(each.evaluations for each in solver._archipelago.measure()))
    return found


@pytest.mark.parametrize("every", [1, 3])
def test_a_run_ends_in_the_generation_that_reaches_the_limit(
    backend: Backend, tmp_path: Path, every: int
) -> None:
    problem = cities(N, tmp_path)
    all_counts = counted(problem, backend.name, every, 12)
    for k, limit in ((2, all_counts[2]), (2, all_counts[1] + 1), (0, 1)):
        asked = {**SEARCHING, "improver.every": every, "stop": f"evaluations={limit}"}
        result = islands.solve(problem, backend=backend.name, **asked)
        wanted = (0, 40) if limit == 1 else (every * (k + 1), all_counts[k])
        assert (result.generations, result.evaluations) == wanted


def test_a_limit_is_found_after_any_resumption_and_on_two_ranks(tmp_path: Path) -> None:
    problem = cities(N, tmp_path)
    counts = counted(problem, "cpu", 1, 12)
    more: dict[str, Any] = {"backend": "cpu", **SEARCHING}
    whole = islands.solve(problem, stop=f"evaluations={counts[10]}", **more)
    assert whole.generations == 11
    for result in on_ranks(
        2,
        lambda world: islands.solve(
            problem, stop=f"evaluations={counts[10]}", world=world, threads=1, **more
        ),
    ):
        assert (result.generations, result.digest) == (11, whole.digest)
    # A run that such a limit has ended inside an epoch is continued.
    stops = [f"evaluations={counts[4]}", f"evaluations={counts[10]}"]
    folder = tmp_path / "out"
    first = islands.solve(problem, stop=stops[0], out=str(folder), **more)
    assert first.generations == 5
    assert main(["resume", str(folder), "--stop", stops[1], "--quiet"]) == 0
    assert recorded(folder).result.digest == whole.digest


def test_each_run_of_a_batch_ends_like_a_single_run(tmp_path: Path) -> None:
    problem = cities(N, tmp_path)
    limit = counted(problem, "cpu", 1, 12)[5] - 30
    asked = {**SEARCHING, "migration": "none", "stop": [f"evaluations={limit}", "target=1"]}
    batch = run_concurrently(resolve(layers(asked), problem), problem, 3, choose("cpu"))
    for run in batch.runs:
        alone = islands.solve(problem, backend="cpu", **{**asked, "seed": run.seed})
        assert (run.digest, run.reason) == (alone.digest, alone.reason)
        assert run.progress.generation == alone.generations < 20


def test_other_criteria_are_only_checked_at_the_end_of_an_epoch(tmp_path: Path) -> None:
    problem = cities(N, tmp_path)
    more: dict[str, Any] = {"backend": "cpu", **SEARCHING}
    result = islands.solve(problem, stop=["evaluations=1e9", "target=1e9"], **more)
    assert result.generations == 0
    first = islands.solve(problem, stop="generations=1", **more).cost
    stop = ["evaluations=1e9", f"target={first}", "stagnation=1"]
    assert islands.solve(problem, stop=stop, **more).generations in (0, 20)
