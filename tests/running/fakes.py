"""A problem and an archipelago whose every number is known beforehand."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Barrier, BrokenBarrierError, Lock
from typing import Any, ClassVar, TypeVar
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from islands.errors import InputError
from islands.instances.catalogue import BestKnown
from islands.lookout import Candidate, IslandMeasure
from islands.migration import Arrivals, Phases
from islands.parallel import World
from islands.paths import reading
from islands.problems.base import Problem, Solution

Value = TypeVar("Value")


class FakeProblem(Problem):
    """The cost of an order is 100 plus its first thing."""

    name: ClassVar[str] = "tsp"
    solution_kind: ClassVar[str] = "order"
    solution_suffix: ClassVar[str] = ".tour"

    def __init__(self, known: BestKnown | None = None, *, maximise: bool = False) -> None:
        self.instance = "fake/five"
        self.size = 5
        self.best_known = known
        self.is_maximised = maximise

    @property
    def maximise(self) -> bool:  # type: ignore[override]
        return self.is_maximised

    def defines(self) -> dict[str, str]:
        return {}

    def arrays(self) -> list[NDArray[np.generic]]:
        return []

    def costs(self, solutions: NDArray[np.int64]) -> NDArray[np.int64]:
        return 100 + solutions[:, 0]

    def check(self, solution: Solution) -> None:
        assert sorted(solution) == list(range(5))

    def read_solution(self, path: Path) -> Solution:
        with reading(path):
            return np.array(path.read_text().split(), np.int64)

    def write_solution(self, path: Path, solution: Solution, cost: int) -> None:
        path.write_text(" ".join(map(str, solution)))


class DeadError(BaseException):
    """Stands for the end of a process that is killed."""


class FakeArchipelago:
    """Two islands: the best of island i at generation g is 1000 + i - g; it remembers its calls.

    Each migration brings one migrant to each island.
    """

    def __init__(self, mine: range = range(2), dies_at: int | None = None, **_: Any) -> None:
        self.mine, self.dies_at = mine, dies_at
        self.generation = -1
        self.migrations = 0
        self.came = False
        self.compile_seconds = 0.25
        self.road = "device"
        self.calls: list[str] = []

    def start(self) -> None:
        self.generation = 0
        self.calls.append("start")

    def advance(self, generations: int) -> None:
        self.generation += generations
        if self.dies_at is not None and self.generation >= self.dies_at:
            raise DeadError
        self.calls.append(f"advance {generations}")

    def migrate(self) -> None:
        self.migrations += 1
        self.came = True
        self.calls.append("migrate")

    def arrivals(self) -> Arrivals | None:
        if not self.came:
            return None
        self.came = False
        target = np.array(self.mine)
        return arrivals(self.migrations, target + 1, target, 500 + target)

    def snapshot(self) -> dict[str, NDArray[Any]]:
        return {"numbers": 1000 * self.generation + np.array(self.mine)}

    def restore(
        self, saved: Mapping[str, NDArray[Any]], *, generation: int, migrations: int
    ) -> None:
        if set(saved) != {"numbers"}:
            raise InputError(f"the saved arrays are {', '.join(sorted(saved))}")
        assert saved["numbers"].tolist() == [1000 * generation + i for i in self.mine]
        self.generation, self.migrations = generation, migrations
        self.calls.append(f"restore {generation}")

    def meet(self) -> None:
        """Return at once: no island sees another."""

    def wait(self) -> None:
        """Return at once: here nothing is done later."""

    def measure(self) -> list[IslandMeasure]:
        g = self.generation
        return [
            IslandMeasure(
                island=i,
                best=1000 + i - g,
                total=2000 * 256,
                mean=2000.0,
                worst=3000,
                best_generation=g,
                evaluations=10 * (g + 1),
            )
            for i in self.mine
        ]

    def best(self) -> Candidate:
        cost = 1000 + self.mine[0] - self.generation
        order = np.arange(5, dtype=np.int64)
        order[0] = cost - 100
        return Candidate(cost, self.mine[0], order, order)

    def digests(self, run: int | None = None) -> list[tuple[int, str]]:
        return [(i, f"{i:064x}") for i in self.mine]


def arrivals(epoch: int, source: Any, target: Any, cost: Any) -> Arrivals:
    """Return arrivals; those from odd islands are accepted, and every other travelled."""
    count = np.arange(len(target))
    return Arrivals(
        epoch=epoch,
        source=np.array(source),
        target=np.array(target),
        cost=np.array(cost),
        accepted=np.array(source) % 2 == 1,
        bytes=80,
        microseconds=1.5 + count,
        road=np.where(count % 2 == 0, "staged", "device"),
        phases=Phases(0.0, 0.0, 0.0),
    )


class Quiet:
    """No signal has come."""

    requested = 0

    @staticmethod
    def hear_interrupts() -> None:
        """Hear nothing."""


Letters = list[list[Queue[bytes]]]
"""What has been sent, by the rank that it comes from, and by the one that it goes to."""


class Coming:
    """Messages that a rank is about to receive, unless another rank fails before it sends them."""

    def __init__(
        self, meeting: Barrier, letters: Sequence[tuple[Queue[bytes], NDArray[np.uint8]]]
    ) -> None:
        self._meeting, self._letters = meeting, letters

    def wait(self) -> None:
        for letters, to in self._letters:
            while letters.empty() and not self._meeting.broken:
                time.sleep(1e-4)
            if letters.empty():
                raise BrokenBarrierError
            to.reshape(-1)[:] = np.frombuffer(letters.get(), np.uint8)


class FakeWorld(World):
    """One of several ranks that are threads of this process."""

    def __init__(self, rank: int, meeting: Barrier, said: list[Any], letters: Letters) -> None:
        super().__init__()
        self.rank, self.size = rank, len(said)
        self._meeting, self._said, self._letters = meeting, said, letters

    def allgather(self, value: Value) -> list[Value]:
        self._said[self.rank] = value
        self._meeting.wait()
        said = list(self._said)
        self._meeting.wait()
        return said

    def gather(self, value: Value) -> list[Value]:
        said = self.allgather(value)
        return said if self.rank == 0 else []

    def bcast(self, value: Value) -> Value:
        return self.allgather(value)[0]

    def barrier(self) -> None:
        self.allgather(None)

    def share(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array(self.allgather(numbers))

    def post(  # type: ignore[override]
        self,
        sends: Sequence[tuple[int, NDArray[np.uint8]]],
        receives: Sequence[tuple[int, NDArray[np.uint8]]],
        tag: int = 0,
    ) -> Coming:
        for rank, what in sends:
            self._letters[self.rank][rank].put(what.tobytes())
        return Coming(
            self._meeting, [(self._letters[rank][self.rank], to) for rank, to in receives]
        )


@contextmanager
def _one_tree_at_a_time() -> Iterator[None]:
    """Let threads parse the heads of NumPy files in turn, as Python 3.11 mixes them up."""
    lock, parse = Lock(), ast.literal_eval

    def parse_alone(text: str) -> Any:
        with lock:
            return parse(text)

    with patch.object(ast, "literal_eval", parse_alone):
        yield


def on_ranks(size: int, work: Callable[[World], Value]) -> list[Value]:
    """Return what `work` returns on each rank; where one fails, none goes on alone."""
    meeting, said = Barrier(size), [None] * size
    letters: Letters = [[Queue() for _ in range(size)] for _ in range(size)]

    def one(rank: int) -> Value:
        try:
            return work(FakeWorld(rank, meeting, said, letters))
        except BaseException:
            meeting.abort()
            raise

    with _one_tree_at_a_time(), ThreadPoolExecutor(size) as pool:
        futures = [pool.submit(one, rank) for rank in range(size)]
    errors = [future.exception() for future in futures]
    for error in errors:
        if error is not None and not isinstance(error, BrokenBarrierError):
            raise error
    return [future.result() for future in futures]
