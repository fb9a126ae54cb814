"""Run the rivals on all cores, each for as long as our runs.

They run in separate processes, while none of our runs is in progress.
"""

import math
import multiprocessing
import operator
import os
import signal
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from multiprocessing.pool import Pool
from typing import Any

import numpy as np

from islands.backends.cpu import share_of_cores
from islands.errors import RunError, UsageError
from islands.problems.base import Problem
from islands.studies.bench.base import BenchRequest
from islands.studies.bench.quality_runs import Course
from islands.studies.bench.rivals.base import Answer, Rival
from islands.studies.bench.rivals.cpsat import CpSat
from islands.studies.bench.rivals.peers import DwaveAnnealing, DwaveTabu, Faq, Highs, Networkx
from islands.studies.bench.rivals.tours import Lkh, OrTools
from islands.text import counted, unknown

_PATIENCE = 10
"""Maximum time of a rival that cannot be interrupted, as a multiple of its limit."""
_STARTING = 60.0
"""Additional seconds for the processes to start."""

_ALL = (Lkh(), OrTools(), Highs(), CpSat(), DwaveTabu(), DwaveAnnealing(), Networkx(), Faq())
RIVALS: dict[str, Rival] = {rival.name: rival for rival in _ALL}


def require_installed(names: Sequence[str]) -> None:
    """Reject rivals that are unknown or not installed."""
    for name in names:
        if name not in RIVALS:
            raise UsageError(unknown("rival", name, RIVALS))
        if find_spec(RIVALS[name].module or RIVALS[name].package) is None:
            package = RIVALS[name].package
            raise UsageError(
                f"--rivals {name} needs {package}, which is not installed. Install it with:"
                f" pip install {package}"
            )


def require_fitting(names: Sequence[str], problems: Sequence[Problem], ranks: int) -> None:
    """Reject a rival that fits no instance, and rivals on several ranks."""
    if names and ranks > 1:
        raise UsageError(
            f"--rivals {','.join(names)} on {ranks} ranks: waiting ranks would use the cores of"
            " rivals. Start it without mpirun"
        )
    for name in names:
        rejections = [RIVALS[name].rejection(problem) for problem in problems]
        if all(rejections):
            raise UsageError(
                f"--rivals {name}: {name} {rejections[0]}. Leave it out, or choose instances of"
                " another problem with --of"
            )


class Contest:
    """The processes in which rivals run, until `close` is called."""

    def __init__(self, request: BenchRequest) -> None:
        """Use as many processes as our runs on the CPU have threads."""
        self._request = request
        self._copies = request.threads or share_of_cores(1)
        self._pool: Pool | None = None

    def results(self, problem: Problem, seed: int) -> Iterator[dict[str, Any]]:
        """Yield the fields of a `RunRow` for each suitable rival."""
        for name in self._request.rivals:
            rival = RIVALS[name]
            if rival.rejection(problem) is None and (rival.is_seeded or seed == 1):
                yield self._request.campaign.result(
                    self._key(rival, problem, seed),
                    partial(self._result, rival, problem, seed),
                    f"{name}, seed {seed}",
                )

    def _key(self, rival: Rival, problem: Problem, seed: int) -> dict[str, Any]:
        return {
            "rival": rival.name,
            "version": version(rival.package),
            "instance": problem.instance,
            "seed": seed,
            "limit": self._request.limit,
            "copies": self._copies,
        }

    def _result(self, rival: Rival, problem: Problem, seed: int) -> dict[str, Any]:
        """Run one copy on each core; at each time, the best cost of all copies counts."""
        copies = self._copies if rival.is_seeded and not rival.is_parallel else 1
        first = (seed - 1) * copies + 1
        answers = self._answers(rival, problem, range(first, first + copies))
        for answer in answers:
            _check(rival, problem, answer)
        course = Course(maximise=problem.maximise)
        for seconds, cost in sorted(point for answer in answers for point in answer.course):
            course.add(seconds, cost)
        known, reached = problem.best_known, course.points[-1] if course.points else None
        ended = [answer.seconds for answer in answers]
        if known is not None and reached is not None and problem.gap(reached[1]) == 0:
            ended = [min(ended)]  # a run ends when one copy reaches the best known value
        return {
            "backend": "cpu",
            "method": rival.name,
            "device": f"CPU, {counted(self._copies if rival.is_parallel else copies, 'thread')}",
            "ranks": 1,
            "algorithm": f"{rival.package} {version(rival.package)}",
            "islands": copies,
            "population": 0,
            "cost": reached[1] if reached is not None else None,
            "seconds": max(ended, default=self._request.limit),
            "other_seconds": 0.0,
            "generations": 0,
            "evaluations": 0,
            "proved": any(answer.proved for answer in answers),
            "course": course.points,
        }

    def _answers(self, rival: Rival, problem: Problem, seeds: range) -> list[Answer]:
        """Return the answers of copies that ended in time."""
        if self._pool is None:
            self._pool = silent_processes(self._copies)
        limit = self._request.limit
        given = rival.given(problem)
        threads = self._copies if rival.is_parallel else 1
        work = [(given, seed, limit, threads) for seed in seeds]
        try:
            answers = self._pool.starmap_async(rival.solve, work, chunksize=1)
            return answers.get(_PATIENCE * limit + _STARTING)
        except multiprocessing.TimeoutError:
            self.close()
            return []

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.terminate()
            self._pool.join()
            self._pool = None


def _check(rival: Rival, problem: Problem, answer: Answer) -> None:
    """Compare the cost that a rival reports with that of its solution."""
    if answer.solution is None:
        return
    cost = problem.cost(np.array(answer.solution))
    # Sums of real numbers depend on their order.
    is_equal = math.isclose if problem.scale.real else operator.eq
    if not is_equal(cost, answer.course[-1][1]):
        raise RunError(
            f"{problem.instance}: {rival.name} reports a cost of {answer.course[-1][1]}, but its"
            f" solution has {cost}. Please report this"
        )


def silent_processes(count: int) -> Pool:
    """Return a pool of processes without output, as rivals print even if their output is disabled.

    The processes end with the block that uses the pool, even if they are busy.
    """
    spawned = multiprocessing.get_context("spawn")  # a CUDA context does not survive a fork
    return spawned.Pool(count, initializer=_discard_output)


def _discard_output() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles it
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
