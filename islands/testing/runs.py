"""The contract of a run: equal results however it is started, divided, interrupted or repeated."""

import time
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import islands
from islands.backends import is_gpu
from islands.errors import RunError
from islands.parallel import World, launched
from islands.problems.base import Problem
from islands.progress.result import Result
from islands.testing.devices import emulated_gpu
from islands.testing.ranks import on_ranks

_LATE = 2.0
"""Maximum number of seconds by which a run may exceed its time limit."""


def facts(result: Result) -> dict[str, Any]:
    """Return the facts that are equal in two equal runs: all but their times and devices."""
    names = ("digest", "cost", "generations", "evaluations", "reason")
    solution = np.asarray(result.solution).tolist()
    return {"solution": solution, **{name: getattr(result, name) for name in names}}


class RunContract:
    """The contract of a problem with settings: all ways to run it give bit-identical results.

    A subclass defines `problem`, and `settings` with which a run has a few migrations.
    """

    settings: ClassVar[dict[str, Any]] = {}
    """The settings of `islands.solve`, without stopping criteria."""
    generations: ClassVar[int] = 9
    seed: ClassVar[int] = 3
    ranks: ClassVar[tuple[int, ...]] = (2, 3)
    threads: ClassVar[tuple[int, ...]] = (64,)
    """Threads per block of the emulated GPU."""

    def problem(self) -> Problem | str:
        """Return the problem or the name of an instance; all calls return an equal one."""
        raise NotImplementedError

    def other(self) -> Problem | str:
        """Return a problem that may share launches with `problem`; by default, the same one."""
        return self.problem()

    def loaded(self) -> Problem:
        """Return the problem, which is loaded if it is named."""
        problem = self.problem()
        return islands.load(problem) if isinstance(problem, str) else problem

    def solver(self, **changes: Any) -> islands.Solver:
        """Return islands for a test to advance, with some settings changed."""
        settings = {"backend": "cpu", "seed": self.seed, **self.settings, **changes}
        return islands.Solver(self.problem(), **settings)

    def solved(self, **changes: Any) -> Result:
        """Return the result of a run on a CPU, with some settings changed."""
        usual = {"backend": "cpu", "generations": self.generations, "seed": self.seed}
        return islands.solve(self.problem(), **{**usual, **self.settings, **changes})

    @pytest.fixture(scope="class")
    @classmethod
    def alone(cls) -> Result:
        """Return the result of a run with one thread and one rank."""
        return cls().solved(threads=1)

    def test_the_cost_is_that_of_the_solution(self, alone: Result) -> None:
        problem = self.loaded()
        if (infeasible := self.settings.get("infeasible")) is not None:
            problem = problem.adjusted(problem.Settings.build({"infeasible": infeasible}))
        assert alone.solution is not None
        assert problem.cost(alone.solution) == pytest.approx(alone.cost, rel=1e-9)

    def test_the_same_on_threads(self, alone: Result) -> None:
        assert facts(self.solved(threads=2)) == facts(alone)

    def test_the_same_on_ranks(self, alone: Result) -> None:
        for size in self.ranks:
            found = on_ranks(size, lambda world: facts(self.solved(world=world, threads=1)))
            assert found == [facts(alone)] * size

    def test_the_same_under_mpi(self) -> None:
        """Under `mpirun -n 3 python -m pytest FILE`, compare all ranks with each one alone."""
        if launched()[1] == 1:
            pytest.skip("not started by mpirun")
        assert facts(self.solved(threads=1)) == facts(self.solved(threads=1, world=World()))

    def test_the_same_among_seeds(self, alone: Result) -> None:
        usual = {"backend": "cpu", "generations": self.generations, **self.settings}
        results = islands.solve_many([self.problem()], runs=3, seed=self.seed - 1, **usual)
        assert facts(results[1]) == facts(alone)
        assert len({result.digest for result in results}) == len(results)

    def test_the_same_among_instances(self, alone: Result) -> None:
        problems = [self.other(), self.problem(), self.other()]
        usual = {"backend": "cpu", "generations": self.generations, **self.settings}
        results = islands.solve_many(problems, seeds=[8, self.seed, 9], threads=1, **usual)
        assert facts(results[1]) == facts(alone)

    def test_the_same_if_resumed(self, alone: Result, tmp_path: Path) -> None:
        folder = tmp_path / "run"
        with suppress(RunError):  # no feasible solution yet
            self.solved(threads=1, out=folder, generations=self.generations // 2)
        problem = self.problem()
        stated = None if isinstance(problem, str) else problem
        resumed = islands.resume(folder, problem=stated, generations=self.generations, threads=2)
        assert facts(resumed) == facts(alone)

    def test_the_same_on_an_emulated_gpu(self, alone: Result) -> None:
        for threads in self.threads:
            with emulated_gpu(threads):
                assert facts(self.solved()) == facts(alone)

    def test_the_same_on_a_gpu(self, alone: Result) -> None:
        if not is_gpu("auto"):
            pytest.skip("no GPU here")
        assert facts(self.solved(backend="cuda")) == facts(alone)

    def test_a_time_limit_is_kept(self) -> None:
        began = time.perf_counter()
        result = self.solved(generations=None, seconds=0.3)
        compiled = getattr(result, "compile_seconds", 0.0) or 0.0
        assert result.seconds <= 0.3 + _LATE
        assert time.perf_counter() - began - compiled < 0.3 + 3 * _LATE
