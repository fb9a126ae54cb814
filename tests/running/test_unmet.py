"""Runs that have met no feasible solution yet, or never do."""

from __future__ import annotations

import csv
import json
import math
import signal
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow.parquet as pq
import pytest
from fakes import FakeArchipelago, FakeProblem, Quiet, Silent
from ranks_for_tests import on_ranks
from results_for_tests import result, standing

from islands.archipelago.measure import Candidate, IslandMeasure
from islands.cli.run import ended
from islands.display.table import row
from islands.errors import RunError
from islands.instances.catalogue import BestKnown
from islands.parallel import World
from islands.progress.progress import Epoch, Moment, Progress, is_better
from islands.progress.result import Result
from islands.progress.tally import UNMET, Tally, summarise
from islands.record.manifest import Manifest
from islands.run import request as request
from islands.run.asynchronous import evolve_freely
from islands.run.batch import run_batch
from islands.run.device import Conduct
from islands.run.epochs import evolve
from islands.run.runner import Output, resume_asked, run_asked
from islands.run.signals import INTERRUPTED_STATUS, SUSPENDED_STATUS
from islands.series.plan import Plan
from islands.series.series import Series
from islands.series.several import run_several
from islands.series.standing import Standing, table
from islands.spec.resolve import layers, resolve
from islands.spec.stop import parse


class Hinting(FakeProblem):
    hint: ClassVar[str] = "Choose another way"


class Late(FakeArchipelago):
    """Island i meets its first feasible solution, of cost 100, in generation `meets` + 10 i."""

    meets: ClassVar[float] = math.inf

    def measure(self) -> list[IslandMeasure]:
        return [
            replace(each, best=100 if self._has_met(each.island) else None, best_generation=7)
            for each in super().measure()
        ]

    def best(self) -> Candidate | None:
        order = np.arange(5)
        return Candidate(100, 0, order, order) if self._has_met(self.mine[0]) else None

    def elite(self, count: int, run: int | None = None) -> list[Candidate]:
        return [each for each in (self.best(),) if each is not None]

    def finish(self) -> None:
        """Do nothing: nobody is on the way."""

    def _has_met(self, island: int) -> bool:
        return self.generation >= self.meets + 10 * island


@pytest.fixture
def meets(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Let islands be late ones, and say since when they meet feasible solutions."""
    monkeypatch.setattr("islands.run.build.Archipelago", Late)
    monkeypatch.setattr(request, "load", lambda *_: Hinting())
    monkeypatch.setattr(Late, "meets", math.inf)
    return lambda generation: monkeypatch.setattr(Late, "meets", generation)


ASKED = {"backend": "cpu", "stop": "generations=100", "islands": 2, "instance": "fake/five"}


def run(folder: Path, **options: Any) -> Result:
    output = Output(writes=True, folder=folder, stream=StringIO())
    return run_asked({**ASKED, **options}, None, World(), output)


def resume(folder: Path, **options: Any) -> Result:
    return resume_asked(folder, options, World(), Output(writes=True, folder=folder))


def found(cost: int | None, island: int, generation: int) -> IslandMeasure:
    return IslandMeasure(island, cost, 10, 0.0, 0, generation, 5)


def together(*measures: IslandMeasure, before: Progress | None = None) -> Progress:
    problem = FakeProblem(BestKnown(4, "optimal", ""))
    ranks = [Tally.of([measure]) for measure in measures]
    return summarise(Tally.together(ranks), 30, 1.5, 10, problem, before)


def test_islands_without_a_best_do_not_hide_those_with_one() -> None:
    assert Tally.of([found(None, 0, 0)]).best == UNMET
    progress = together(found(None, 0, 0), found(8, 1, 20), found(None, 2, 0))
    assert (progress.cost, progress.island, progress.best_generation) == (8, 1, 20)
    assert progress.gap == 100.0


def test_no_island_has_found_what_was_not_met() -> None:
    first = together(found(None, 0, 3), found(None, 1, 5))
    assert (first.cost, first.island, first.best_generation, first.gap) == (None, None, 0, None)
    assert (first.mean, first.evaluations) == (1.0, 10)
    second = together(found(None, 0, 3), found(9, 1, 25), before=first)
    assert (second.cost, second.island, second.best_generation) == (9, 1, 25)


def test_any_cost_is_better_than_none() -> None:
    for maximise in (False, True):
        assert is_better(0, None, maximise=maximise)
        assert not is_better(None, 0, maximise=maximise)
        assert not is_better(None, None, maximise=maximise)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("target=1e9", None),
        ("gap=1000%", None),
        ("best-known", None),
        ("optimum", None),
        ("stagnation=30", "no better solution for 30 generations"),
        ("stagnation=31", None),
        ("generations=30", "30 generations done"),
    ],
)
@pytest.mark.parametrize("maximise", [False, True])
def test_criteria_of_costs_are_not_met(text: str, reason: str | None, maximise: bool) -> None:
    progress = replace(together(found(None, 0, 0)), maximise=maximise)
    assert parse(text).reason(progress) == reason


def test_the_table_has_dashes_and_a_star_for_the_first() -> None:
    first, second = together(found(None, 0, 0)), together(found(9, 0, 25))
    line = row(first, None)
    assert line.split()[:7] == ["30", "1.5s", "|", "-", "-", "-", "|"]
    assert len(line) == len(row(second, first))
    assert row(second, first)[0] == "*"


def test_all_ranks_agree_on_a_run_that_meets_one_late(meets: Callable[[float], None]) -> None:
    meets(60)

    def one(world: World) -> tuple[Any, ...]:
        problem, epochs = Hinting(), list[Epoch]()
        spec = resolve(layers({**ASKED, "islands": 4}), problem)
        islands = Late(range(2 * world.rank, 2 * world.rank + 2))

        outcome = evolve(islands, spec, problem, world, epochs.append, Quiet())  # type: ignore[arg-type]
        costs = [epoch.progress.cost for epoch in epochs]
        return costs, outcome.progress.island, outcome.progress.best_generation

    assert on_ranks(2, one) == [([None, None, 100], 0, 7)] * 2


def test_ranks_that_do_not_wait_may_meet_none(meets: Callable[[float], None]) -> None:
    def one(cost: float) -> tuple[float | None, str]:
        meets(cost)
        problem = Hinting()
        spec = resolve(layers(ASKED), problem)

        outcome = evolve_freely(Late(), spec, problem, World(), lambda _: None, Quiet(), Silent())  # type: ignore[arg-type]
        return outcome.progress.cost, outcome.reason

    assert one(50) == (100, "100 generations done")
    assert one(math.inf) == (None, "100 generations done")


def test_a_run_without_any_is_an_error_and_can_go_on(
    meets: Callable[[float], None], tmp_path: Path
) -> None:
    folder = tmp_path / "a"
    with pytest.raises(RunError) as caught:
        run(folder)
    assert str(caught.value) == (
        f"fake/five: no feasible solution was met in {2 * 10 * 101} evaluations. Choose another"
        f" way. To go on with this run: islands resume {folder} --stop KIND=VALUE"
    )
    assert caught.value.status == 1
    assert "No feasible solution in 2020 evaluations" in (folder / "log.txt").read_text()
    assert not (folder / "solution.parquet").exists()
    again = resume(folder)
    assert (again.cost, again.solution, again.generations) == (None, None, 100)
    meets(140)
    assert resume(folder, stop="generations=150").cost == 100
    trace = pq.read_table(folder / "trace" / "rank-000.parquet").to_pydict()
    assert trace["generation"] == [g for g in range(0, 151, 50) for _ in "ab"]
    assert trace["best"] == [None] * 6 + [100, 100]


def test_without_a_folder_there_is_nothing_to_go_on_with(meets: Callable[[float], None]) -> None:
    with pytest.raises(RunError, match=r"evaluations\. Choose another way$"):
        run_asked(ASKED, None, World(), Output(), Hinting())


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGTERM, SUSPENDED_STATUS), (signal.SIGINT, INTERRUPTED_STATUS)],
)
def test_one_that_a_signal_ends_keeps_its_status(
    meets: Callable[[float], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: signal.Signals,
    status: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Signalled(Late):
        def start(self) -> None:
            super().start()
            # The second of its kind would end the process at once.
            signal.raise_signal(number)

    monkeypatch.setattr("islands.run.build.Archipelago", Signalled)
    cut = run(tmp_path / "a", stop="generations=1000000")
    assert ended(cut, World(), as_json=True) == status
    printed = json.loads(capsys.readouterr().out)
    assert (printed["cost"], printed["solution"], printed["island"]) == (None, None, None)
    assert cut.generations < 1_000_000
    meets(0)
    monkeypatch.setattr("islands.run.build.Archipelago", Late)
    assert resume(tmp_path / "a", stop="generations=50").cost == 100


def test_a_checkpoint_keeps_that_there_was_none(tmp_path: Path) -> None:
    before = together(found(None, 0, 0))
    manifest = Manifest("run", 1, 0, Moment(30, 1.5, before), ())
    manifest.write(tmp_path)
    assert Manifest.read(tmp_path, "run") == manifest


def test_side_by_side_it_is_no_error(meets: Callable[[float], None]) -> None:
    from islands.backends import choose

    spec = resolve(layers({**ASKED, "migration": "none"}), Hinting())
    (one,) = run_batch(spec, Hinting(), 1, choose("cpu")).runs
    assert (one.best, one.progress.cost, one.reason) == (None, None, "100 generations done")


def test_a_kernel_that_keeps_its_best_to_itself_is_found_out(
    meets: Callable[[float], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Late, "best", lambda _: None)
    meets(50)
    with pytest.raises(RunError, match="the best solution the cost 100, but its exact cost is No"):
        run(tmp_path / "a")


def test_a_series_names_runs_without_any_and_does_not_count_them(
    meets: Callable[[float], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Seeded(Late):
        def __init__(self, *, seed: int, **arguments: Any) -> None:
            super().__init__(**arguments)
            self.meets = math.inf if seed == 2 else 50  # type: ignore[misc]

    monkeypatch.setattr("islands.run.build.Archipelago", Seeded)

    def series(conduct: Conduct, **output: Any) -> tuple[Series, str]:
        stream = StringIO()
        where = Output(writes=True, folder=tmp_path / "a", stream=stream, **output)
        planned = Plan.of(["fake/five"], 3, ASKED)
        return run_several(planned, World(), where, conduct), stream.getvalue()

    for _ in "ab":
        done, said = series(Conduct(), quiet=True)
        (found,) = done.standings
        assert (found.runs, found.unmet, found.best, found.worst, found.mean) == (
            *(3, 1, 100, 100, 100),
        )
        assert "fake/five seed 2: no feasible solution, gap -" in said
        assert "fake/five: 1 of 3 runs met no feasible solution" in said
        assert [each["cost"] for each in json.loads(done.to_json())["runs"]] == [100, None, 100]
        with (tmp_path / "a" / "runs.tsv").open(newline="") as stream:
            rows = list(csv.DictReader(stream, dialect="excel-tab"))
        assert [(each["cost"], each["gap"], each["solution"]) for each in rows] == [
            ("100", "", "0 1 2 3 4"),
            ("", "", ""),
            ("100", "", "0 1 2 3 4"),
        ]


@pytest.mark.parametrize(
    ("unmet", "message"),
    [
        (0, None),
        (1, None),
        (2, r"fake/five: none of 2 runs met a feasible solution\. Mend tsp$"),
    ],
)
def test_a_series_of_which_no_run_met_any_is_an_error(unmet: int, message: str | None) -> None:
    costs = [None] * unmet + [200] * (2 - unmet)
    runs = [result(cost=cost, gap=None, solution=None) for cost in costs]
    standing_of_both = Standing.of(runs, maximise=True)
    series = Series(
        Path("a"), 1, runs, [standing(210), standing_of_both], interrupted=False, suspended=False
    )
    for cut_short in ({"interrupted": True}, {"suspended": True}):
        replace(series, **cut_short).require_solutions("Mend {}".format)
    if message is None:
        series.require_solutions("Mend {}".format)
    else:
        with pytest.raises(RunError, match=message):
            series.require_solutions("Mend {}".format)


def test_a_standing_of_nothing_has_dashes() -> None:
    nothing = Standing.of([result(cost=None, gap=None, solution=None)] * 2, maximise=True)
    assert (nothing.runs, nothing.unmet, nothing.hits) == (2, 2, 0)
    assert (nothing.best, nothing.mean, nothing.gap_mean, nothing.standard_deviation) == (None,) * 4
    lines = table([nothing, standing(210)]).split("\n")
    assert len(lines[3]) == len(lines[4]) == len(lines[2])
    assert lines[3].split()[:8] == ["fake/five", "2", "|", "-", "-", "|", "-", "-"]
    assert lines[5].startswith("fake/five: 2 of 2 runs met no feasible solution")
