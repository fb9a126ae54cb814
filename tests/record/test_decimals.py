"""Costs with decimals are integers of a smaller unit internally, and decimals in all output."""

from __future__ import annotations

import csv
import json
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fakes import FakeArchipelago, FakeProblem, arrivals
from numpy.typing import NDArray

from islands.archipelago.measure import Candidate, IslandMeasure
from islands.campaign.series import SeriesPlan, run_series
from islands.configuration.stop import parse
from islands.instances.catalogue import BestKnown
from islands.parallel import World
from islands.problems.base import Solution
from islands.problems.scale import Scale
from islands.progress.progress import Epoch, Progress
from islands.progress.result import Result
from islands.record.records import Migrations
from islands.run import request as request
from islands.run.runner import resume_requested, run_requested
from islands.run.single import Output


class Tenths(FakeProblem):
    """The profit of an order is 87.0, plus 0.1 times its first item."""

    name: ClassVar[str] = "tenths"
    unit: int = 10

    @property
    def scale(self) -> Scale:
        return Scale(maximise=self.maximise, unit=self.unit)

    def __init__(self, known: float | None = 87.2) -> None:
        super().__init__(None if known is None else BestKnown(known, "best_known", ""))
        self.is_maximised = True

    def costs(self, solutions: NDArray[np.int64]) -> NDArray[np.int64]:
        return 870 + solutions[:, 0]

    def write_solution(self, path: Path, solution: Solution, cost: int) -> None:
        path.write_text(f"{cost!r}")


class OfTenths(FakeArchipelago):
    """The best profit is 87.1, or 871 units; another island has 870 units."""

    def measure(self) -> list[IslandMeasure]:
        return [IslandMeasure(i, -870 - i, -8505, -850.5, -8, 0, 1) for i in self.mine]

    def best(self) -> Candidate:
        order = np.array([1, 0, 2, 3, 4])
        return Candidate(-871, 1, order, order)

    def elite(self, count: int, run: int | None = None) -> list[Candidate]:
        return [self.best()]


@pytest.fixture(autouse=True)
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("islands.run.build.Archipelago", OfTenths)
    monkeypatch.setattr(request, "loaded", lambda *_: Tenths())


ASKED = {"backend": "cpu", "stop": "generations=100", "population": 10, "islands": 2}


def run(folder: Path | None, **options: Any) -> tuple[Result, str]:
    stream = StringIO()
    output = Output(writes=folder is not None, folder=folder, stream=stream)
    return run_requested({**ASKED, **options}, None, World(), output, Tenths()), stream.getvalue()


@pytest.mark.parametrize("digits", [1, 8, 15])
def test_numbers_of_up_to_15_digits_are_exact(digits: int) -> None:
    problem = Tenths()
    for unit in (10**places for places in range(1, digits + 1)):
        problem.unit = unit
        drawn = np.random.default_rng(unit).integers(-(10**digits), 10**digits, 50)
        for units in drawn.tolist():
            assert Decimal(repr(problem.scale.value_of(units))) == Decimal(units) / unit
        assert problem.scale.value_of(drawn).tolist() == [
            problem.scale.value_of(u) for u in drawn.tolist()
        ]


def test_the_result_of_a_run_has_decimals(tmp_path: Path) -> None:
    result, said = run(tmp_path / "a")
    assert '"cost": 87.1, "best_known": 87.2' in result.to_json()
    assert result.gap == pytest.approx(100 * 0.1 / 87.2)
    assert "Best 87.1, gap 0.11% to 87.2" in said
    # The native solution format of a family stores integers only.
    assert (tmp_path / "a" / "solution.tour").read_text() == "871"


def test_records_have_decimals(tmp_path: Path) -> None:
    run(tmp_path / "a")
    trace = pq.read_table(tmp_path / "a" / "trace" / "rank-000.parquet")
    assert [trace.schema.field(name).type for name in ("best", "worst")] == [pa.float64()] * 2
    first = trace.slice(1, 1).to_pylist()[0]
    assert (first["best"], first["worst"], first["mean"]) == (87.1, 0.8, 85.05)
    migrations = Migrations(tmp_path, 1, 1, Tenths())
    progress = Progress(10, 1, 0.5, 5, 5, 0, 20.5)
    migrations.add(Epoch([], arrivals(1, [7], [3], [-8701]), progress))
    migrations.publish({})
    table = pq.read_table(tmp_path / "migrations" / "rank-001.parquet")
    assert table.column("cost").to_pylist() == [870.1]


def test_a_run_with_decimals_can_be_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    run(folder)
    more = {"stop": "generations=150"}
    assert resume_requested(folder, more, World(), Output(writes=True, folder=folder)).cost == 87.1
    trace = pq.read_table(folder / "trace" / "rank-000.parquet")
    assert trace.column("best").to_pylist() == [87.0, 87.1] * 4


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("target=87.1", "target 87.1 reached"),
        ("target=87.11", "100 generations done"),
        ("gap=0.12%", "target gap of 0.12% reached"),
        ("best-known", "100 generations done"),
    ],
)
def test_criteria_have_decimals(stop: str, reason: str) -> None:
    result, _ = run(None, stop=[stop, "generations=100"])
    assert result.reason == reason


@pytest.mark.parametrize("text", ["0.1", "8706.1", "123456789012.345", "-0.00001", "1e-5"])
def test_a_target_is_exactly_the_given_number(text: str) -> None:
    target = parse(f"target={text}").value
    assert Decimal(repr(target)) == Decimal(text)


def test_a_series_has_decimals(tmp_path: Path) -> None:
    output = Output(writes=True, folder=tmp_path / "a", stream=StringIO())
    series = run_series(SeriesPlan.of(["fake/five"], 2, ASKED), World(), output)
    (standing,) = json.loads(series.to_json())["instances"]
    assert (standing["best"], standing["worst"], standing["best_known"]) == (87.1, 87.1, 87.2)
    assert (standing["mean"], standing["hits"]) == (pytest.approx(87.1), 0)
    with (tmp_path / "a" / "runs.tsv").open(newline="") as table:
        assert [each["cost"] for each in csv.DictReader(table, dialect="excel-tab")] == ["87.1"] * 2
