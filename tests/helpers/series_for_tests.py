"""Series of fake runs."""

import csv
import os
import signal
import time
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from fakes import FakeArchipelago
from starts_for_tests import AnyOrder

from islands.archipelago.measure import Candidate
from islands.cells.series import Series, SeriesPlan, run_series
from islands.configuration.request import Request
from islands.engine import loading
from islands.engine.build import RankOptions
from islands.engine.single import Output
from islands.instances.catalogue import BestKnown
from islands.parallel import World

COSTS = {1: 103, 2: 101, 3: 106, 4: 101}
"""The final costs of runs, by seed."""


class Named(AnyOrder):
    def __init__(self, name: str, *_: object) -> None:
        super().__init__(BestKnown(101, "best_known", "") if name == "fake/a" else None)
        self.instance = name


class Seeded(FakeArchipelago):
    """Fake islands whose best and digests depend on the seed; `begun` records their starts."""

    begun: ClassVar[list[tuple[str, int]]] = []
    signalled_at: ClassVar[tuple[int, int] | None] = None
    """The seed and the generation at which SIGTERM is sent."""

    def __init__(self, *, problem: Named, seed: int, **_: Any) -> None:
        super().__init__()
        self.seed, self.name = seed, problem.instance

    def start(self) -> None:
        super().start()
        self.begun.append((self.name, self.seed))

    def advance(self, generations: int) -> None:
        if (self.seed, self.generation) == self.signalled_at:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.2)
        super().advance(generations)

    def measure(self) -> list[Any]:
        return [each._replace(best=COSTS[self.seed] + each.island) for each in super().measure()]

    def best(self) -> Candidate:
        order = np.arange(5, dtype=np.int64)
        order[0] = COSTS[self.seed] - 100
        return Candidate(COSTS[self.seed], 0, order, order)

    def digests(self) -> list[tuple[int, str]]:
        return [(i, f"{10 * self.seed + i:064x}") for i in self.recorded]


def pretend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Replace islands by `Seeded` and instances by `Named`, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("islands.engine.build.Archipelago", Seeded)
    monkeypatch.setattr(loading, "loaded", Named)
    monkeypatch.setattr(Seeded, "begun", [])


def planned(*instances: str, runs: int = 2, **options: Any) -> SeriesPlan:
    options = {"backend": "cpu", "stop": "generations=100", **options}
    return SeriesPlan.of(instances, runs, Request.of(options))


def done(
    *instances: str,
    runs: int = 2,
    out: str | None = "out",
    force: bool = False,
    quiet: bool = True,
    said: StringIO | None = None,
    rank_options: RankOptions | None = None,
    **options: Any,
) -> Series:
    folder = Path(out) if out is not None else None
    output = Output(True, folder, force, said or StringIO(), quiet)
    request = planned(*instances, runs=runs, **options)
    return run_series(request, World(), output, rank_options or RankOptions())


def rows(folder: str = "out") -> list[dict[str, str]]:
    with Path(folder, "runs.tsv").open(newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


def entered() -> list[tuple[str, int]]:
    return [(row["instance"], int(row["seed"])) for row in rows()]
