"""Runs that have found no feasible solution yet, or never find one."""

import json
import math
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow.parquet as pq
import pytest
from fakes import FakeArchipelago, FakeProblem
from runs_for_tests import resumed, solved

from islands.archipelago.measure import Candidate, IslandMeasure
from islands.cli.run import ended
from islands.engine.signals import INTERRUPTED_STATUS, SUSPENDED_STATUS
from islands.errors import RunError
from islands.parallel import World
from islands.problems.capabilities import ProblemWords
from islands.progress.result import Result


class Hinting(FakeProblem):
    words: ClassVar[ProblemWords] = ProblemWords(infeasible_fix="Choose another way")


class Late(FakeArchipelago):
    """Island i finds its first feasible solution, of cost 100, in generation `first` + 10 i."""

    first: ClassVar[float] = math.inf

    def measure(self) -> list[IslandMeasure]:
        return [
            each._replace(best=100 if self._has_found(each.island) else None, best_generation=7)
            for each in super().measure()
        ]

    def best(self) -> Candidate | None:
        order = np.arange(5)
        return Candidate(100, 0, order, order) if self._has_found(self.recorded[0]) else None

    def elite(self, count: int) -> list[Candidate]:
        return [each for each in (self.best(),) if each is not None]

    def _has_found(self, island: int) -> bool:
        return self.generation >= self.first + 10 * island


@pytest.fixture
def first(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Use `Late` islands, and return a function that sets their `first` generation."""
    monkeypatch.setattr("islands.engine.build.Archipelago", Late)
    monkeypatch.setattr(Late, "first", math.inf)
    return lambda generation: monkeypatch.setattr(Late, "first", generation)


def run(folder: Path, **options: Any) -> Result:
    return solved(folder, Hinting(), islands=2, **options)


def test_a_run_without_a_solution_is_an_error_and_can_be_resumed(
    first: Callable[[float], None], tmp_path: Path
) -> None:
    folder = tmp_path / "a"
    with pytest.raises(RunError) as caught:
        run(folder)
    assert f"Choose another way. To continue this run: islands resume {folder}" in str(caught.value)
    assert caught.value.status == 1
    assert not (folder / "solution.parquet").exists()
    again = resumed(folder)
    assert (again.cost, again.solution, again.generations) == (None, None, 100)
    first(140)
    assert resumed(folder, stop="generations=150").cost == 100
    trace = pq.read_table(folder / "trace" / "rank-000.parquet").to_pydict()
    assert trace["generation"] == [g for g in range(0, 151, 50) for _ in "ab"]
    assert trace["best"] == [None] * 6 + [100, 100]


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, SUSPENDED_STATUS), (signal.SIGINT, INTERRUPTED_STATUS)]
)
def test_an_interrupted_run_without_a_solution_keeps_its_exit_status(
    first: Callable[[float], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: signal.Signals,
    status: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Signalled(Late):
        def start(self) -> None:
            super().start()
            # A second signal of the same kind would end the process at once.
            signal.raise_signal(number)

    monkeypatch.setattr("islands.engine.build.Archipelago", Signalled)
    cut = run(tmp_path / "a", stop="generations=1000000")
    assert ended(cut, World(), as_json=True) == status
    printed = json.loads(capsys.readouterr().out)
    assert (printed["cost"], printed["solution"], printed["island"]) == (None, None, None)
    assert cut.generations < 1_000_000
    first(0)
    monkeypatch.setattr("islands.engine.build.Archipelago", Late)
    assert resumed(tmp_path / "a", stop="generations=50").cost == 100
