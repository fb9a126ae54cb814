"""A problem and an archipelago with numbers that are known in advance."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.measure import Candidate, IslandMeasure
from islands.backends.source import Header
from islands.errors import InputError
from islands.instances.catalogue import BestKnown
from islands.migration import Arrivals, MigrationTimes
from islands.paths import reading
from islands.problems.base import Problem, Solution
from islands.progress.progress import Progress


class FakeProblem(Problem):
    """The cost of an order is 100 plus its first item."""

    name: ClassVar[str] = "tsp"
    header: ClassVar[Header] = Header("problems/tsp.cuh")
    solution_kind: ClassVar[str] = "order"
    moves: ClassVar[tuple[str, ...]] = ("swap", "reversal", "insertion")
    solution_suffix: ClassVar[str] = ".tour"

    def __init__(self, known: BestKnown | None = None, *, maximise: bool = False) -> None:
        self.instance = "fake/five"
        self.size = 5
        self.best_known = known
        self.is_maximised = maximise

    @property
    def maximise(self) -> bool:
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
    """Stands for the death of a killed process."""


class FakeArchipelago:
    """Two islands: the best of island i at generation g is 1000 + i - g. Calls are recorded.

    Each migration brings one migrant to each island.
    """

    is_partial = may_take_long = is_on_cpu = is_idle = has_reached_goal = False
    why_idle = ""
    working_ranks = 1
    team_seconds = 0.0
    ahead = range(0)
    backend = SimpleNamespace(device="CPU", identity="", joules=lambda: None)

    def __init__(self, mine: range = range(2), dies_at: int | None = None, **_: Any) -> None:
        self.recorded = self.held = mine
        self.dies_at = dies_at
        self.generation = -1
        self.migrations = 0
        self.came = False
        self.transport = "device"
        self.calls: list[str] = []

    def wait(self, *_: Any) -> None:
        """Do nothing: generations are quick, and no message is on its way."""

    abandon = limit_first = limit = renew_halo = finish = wait

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
        target = np.array(self.recorded)
        return arrivals(self.migrations, target + 1, target, 500 + target)

    def snapshot(self, *, is_copied: bool = True) -> dict[str, NDArray[Any]]:
        return {"numbers": 1000 * self.generation + np.array(self.recorded)}

    def restore(
        self, saved: Mapping[str, NDArray[Any]], *, generation: int, migrations: int
    ) -> None:
        if set(saved) != {"numbers"}:
            raise InputError(f"the saved arrays are {', '.join(sorted(saved))}")
        assert saved["numbers"].tolist() == [1000 * generation + i for i in self.recorded]
        self.generation, self.migrations = generation, migrations
        self.calls.append(f"restore {generation}")

    def covered(self, name: str) -> range:
        """Return the islands of all ranks."""
        return range(1 << 20)

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
            for i in self.recorded
        ]

    def best(self) -> Candidate:
        cost = 1000 + self.recorded[0] - self.generation
        order = np.arange(5, dtype=np.int64)
        order[0] = cost - 100
        return Candidate(cost, self.recorded[0], order, order)

    def digests(self) -> list[tuple[int, str]]:
        return [(i, f"{i:064x}") for i in self.recorded]


def arrivals(number: int, source: Any, target: Any, cost: Any) -> Arrivals:
    """Return arrivals: those from odd islands are accepted, and every second one is `staged`."""
    count = np.arange(len(target))
    return Arrivals(
        number=number,
        source=np.array(source),
        target=np.array(target),
        cost=np.array(cost),
        accepted=np.array(source) % 2 == 1,
        bytes=80,
        microseconds=1.5 + count,
        transport=np.where(count % 2 == 0, "staged", "device"),
        phases=MigrationTimes(0.0, 0.0, 0.0),
    )


class Silent:
    """A display that shows nothing."""

    def __init__(self) -> None:
        self.table = SimpleNamespace()

    def say(self, _: str | Progress) -> None:
        """Print nothing."""

    show = say


class Quiet:
    """An `Interruption` that never receives a signal."""

    requested: Any = 0

    @staticmethod
    def has_new_signal() -> bool:
        """Return False."""
        return False

    @staticmethod
    def handle_interrupts() -> None:
        """Do nothing."""


class FakeChannel:
    """A channel to other ranks whose messages a test lets arrive."""

    def __init__(self, ranks: Iterable[int]) -> None:
        self.pending, self.has_arrived = set[int](), set[int]()
        self._ranks = set(ranks)

    def arrived(self) -> list[int]:
        return sorted(self.has_arrived)

    def free(self) -> set[int]:
        return self._ranks - self.pending

    def listen(self, rank: int) -> None:
        self.has_arrived.remove(rank)

    def send(self, rank: int) -> None:
        self.pending.add(rank)
