from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from fakes import FakeArchipelago, FakeProblem

from islands.archipelago import Candidate
from islands.errors import InputError, RunError, UsageError
from islands.parallel import RanksLostError, World
from islands.run import runner
from islands.run.runner import Output, run_asked
from islands.run.start import check_exactly, combined


class Honest(FakeArchipelago):
    """Its best is what the exact objective says."""

    def measure(self) -> list[Any]:
        return [
            replace(m, best=100 + m.island, best_generation=self.generation)
            for m in super().measure()
        ]

    def best(self) -> Candidate:
        order = np.arange(5, dtype=np.int64)
        return Candidate(100, 0, order, order)


@pytest.fixture(autouse=True)
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "Archipelago", Honest)


def solved(folder: Path | None, problem: FakeProblem | None = None, **options: Any) -> Any:
    output = Output(writes=folder is not None, folder=folder, stream=StringIO())
    options = {"backend": "cpu", "stop": "generations=100", **options}
    return run_asked(options, None, World(), output, problem or FakeProblem())


def test_the_result_of_a_run(tmp_path: Path) -> None:
    result = solved(tmp_path / "a", seed=5)
    assert (result.cost, result.island, result.generations, result.seed) == (100, 0, 100, 5)
    # The same best in each generation was found in the first.
    assert (result.evaluations, result.best_generation) == (2 * 10 * 101, 0)
    assert result.solution.tolist() == [0, 1, 2, 3, 4]
    assert (result.reason, result.interrupted) == ("100 generations done", False)
    assert (result.instance, result.problem, result.ranks) == ("fake/five", "tsp", 1)
    both = "".join(f"{i:064x}" for i in range(2))
    assert result.digest == hashlib.sha256(both.encode()).hexdigest()


def test_the_folder_of_a_run(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    result = solved(folder)
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*")) == [
        "checkpoints",
        "checkpoints/000000000100.1",
        "checkpoints/000000000100.1/manifest.json",
        "checkpoints/000000000100.1/rank-000.npz",
        "log.txt",
        "migrations",
        "migrations/rank-000.parquet",
        *("run.toml", "solution.parquet", "solution.tour", "trace", "trace/rank-000.parquet"),
    ]
    assert (folder / "solution.tour").read_text() == "0 1 2 3 4"
    assert pq.read_table(folder / "solution.parquet").column(0).to_pylist() == [0, 1, 2, 3, 4]
    trace = pq.read_table(folder / "trace" / "rank-000.parquet")
    assert trace.column("generation").to_pylist() == [0, 0, 50, 50, 100, 100]
    assert result.summary() in (folder / "log.txt").read_text()


@pytest.mark.parametrize(
    "name", ["solution.parquet", "trace/rank-000.parquet", "migrations/rank-000.parquet"]
)
def test_each_parquet_file_says_how_it_came_about(tmp_path: Path, name: str) -> None:
    result = solved(tmp_path / "a", rho="0.8")
    facts = pq.read_schema(tmp_path / "a" / name).metadata
    assert facts[b"islands.settings"] == (tmp_path / "a" / "run.toml").read_bytes()
    assert b"rho = 0.8" in facts[b"islands.settings"]
    assert facts[b"islands.digest"].decode() == result.digest
    assert facts[b"islands.reason"] == b"100 generations done"
    assert facts[b"islands.seed"] == b"1"
    assert facts[b"islands.device"].decode() == result.device
    assert json.loads(facts[b"islands.result"])["cost"] == 100
    assert "numpy" in json.loads(facts[b"islands.versions"])


def test_without_output_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert solved(None).folder is None
    assert list(tmp_path.iterdir()) == []


def test_a_finished_folder_is_refused_before_anything_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved(tmp_path / "a")
    monkeypatch.setattr(runner, "take_device", None)
    with pytest.raises(UsageError, match="holds a finished run"):
        solved(tmp_path / "a")


def test_a_solution_to_start_from_that_is_none_is_refused_by_its_file(tmp_path: Path) -> None:
    class Strict(FakeProblem):
        def check(self, solution: Any) -> None:
            raise RunError("thing 3 is missing")

    (tmp_path / "short.tour").write_text("0 1 2 4 4")
    with pytest.raises(InputError, match=r"short\.tour: thing 3 is missing"):
        solved(None, Strict(), start=[str(tmp_path / "short.tour")])


def test_a_result_that_the_exact_check_contradicts_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Lying(Honest):
        def measure(self) -> list[Any]:
            return [replace(m, best=99 + m.island) for m in super().measure()]

    monkeypatch.setattr(runner, "Archipelago", Lying)
    with pytest.raises(RunError, match=r"island 0 the cost 99, but its exact cost is 100"):
        solved(tmp_path / "a")
    assert not (tmp_path / "a" / "solution.parquet").exists()


def test_a_profit_is_checked_in_its_own_sense() -> None:
    order = np.arange(5, dtype=np.int64)
    check_exactly(FakeProblem(maximise=True), Candidate(-100, 0, order, order), 100)
    with pytest.raises(RunError, match="the cost -100"):
        check_exactly(FakeProblem(maximise=True), Candidate(-100, 0, order, order), -100)


def test_the_digest_is_in_island_order() -> None:
    assert combined([(10, "c"), (2, "b"), (1, "a")]) == combined([(1, "a"), (2, "b"), (10, "c")])
    assert combined([(1, "a"), (2, "b")]) != combined([(1, "b"), (2, "a")])


class Shrinking(World):
    """A world of two, of which one dies."""

    def __init__(self) -> None:
        super().__init__(fault_tolerant=True)
        self.shrunk = 0

    def shrink(self) -> None:
        self.shrunk += 1


class Losing(Honest):
    """Its first two lives end when another rank dies: in a generation, and when it goes on."""

    lives = 0

    def advance(self, generations: int) -> None:
        super().advance(generations)
        if self.generation == 150 and Losing.lives == 0:
            Losing.lives = 1
            raise RanksLostError("lost ranks of 2")

    def restore(self, *arguments: Any, **named: Any) -> None:
        if Losing.lives == 1:
            Losing.lives = 2
            raise RanksLostError("lost ranks of 2")
        super().restore(*arguments, **named)


def test_the_ranks_that_are_left_go_on_from_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "Archipelago", Losing)
    monkeypatch.setattr(Losing, "lives", 0)
    world, stream = Shrinking(), StringIO()
    output = Output(writes=True, folder=tmp_path / "a", stream=stream)
    options = {"backend": "cpu", "stop": "generations=300", "checkpoint.every": "1e-9"}
    result = run_asked(options, None, world, output, FakeProblem())
    assert (world.shrunk, Losing.lives, result.generations) == (2, 2, 300)
    said = stream.getvalue()
    assert said.count("0 of 1 ranks have died; the others go on\nislands ") == 2
    assert said.count("goes on from generation ") == 1
    table = pq.read_table(tmp_path / "a" / "trace" / "rank-000.parquet")
    assert table.column("generation").to_pylist() == [g for g in range(0, 301, 50) for _ in "ab"]


def test_without_a_folder_there_is_nothing_to_go_on_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "Archipelago", Losing)
    monkeypatch.setattr(Losing, "lives", 0)
    with pytest.raises(RanksLostError):
        run_asked(
            {"backend": "cpu", "stop": "generations=300"},
            None,
            Shrinking(),
            Output(),
            FakeProblem(),
        )
