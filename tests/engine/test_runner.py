from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from fakes import FakeProblem
from runs_for_tests import Honest, resumed, solved

from islands.archipelago.measure import Candidate
from islands.engine import build
from islands.engine import runner as runner
from islands.engine.single import check_exactly
from islands.errors import InputError, RunError, UsageError
from islands.parallel import World
from islands.record import lock as lock_module
from islands.testing.ranks import on_ranks


@pytest.fixture(autouse=True)
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("islands.engine.build.Archipelago", Honest)


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


def test_a_folder_with_a_run_is_rejected_before_anything_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved(tmp_path / "a")
    monkeypatch.setattr(runner, "take_device", None)
    with pytest.raises(UsageError, match="finished"):
        solved(tmp_path / "a")
    (tmp_path / "a" / "solution.parquet").unlink()
    with pytest.raises(UsageError, match="resumed"):
        solved(tmp_path / "a")


def test_a_run_locks_its_folder_until_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock_module, "_PATIENCE_SECONDS", 0.0)
    disturbed = list[str]()

    class Disturbed(Honest):
        def start(self) -> None:
            super().start()
            monkeypatch.setattr("islands.engine.build.Archipelago", Honest)
            for disturb in (solved, resumed):
                with pytest.raises(InputError, match="another process is using"):
                    disturb(tmp_path / "a")
                disturbed.append(disturb.__name__)

    monkeypatch.setattr("islands.engine.build.Archipelago", Disturbed)
    assert solved(tmp_path / "a").generations == 100
    assert disturbed == ["solved", "resumed"]
    assert "100 generations done" in (tmp_path / "a" / "log.txt").read_text()
    resumed(tmp_path / "a")


class Warm(Honest):
    def __init__(self, warm_start: Any, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.warm_start = warm_start

    def start(self) -> None:
        assert [solution.tolist() for solution in self.warm_start()] == [[0, 1, 2, 3, 4]]
        super().start()


def test_a_resumed_run_does_not_need_its_start_solutions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("islands.engine.build.Archipelago", Warm)
    tour = tmp_path / "first.tour"
    tour.write_text("0 1 2 3 4")
    solved(tmp_path / "a", start=[str(tour)])
    tour.unlink()
    assert resumed(tmp_path / "a", stop="generations=150").generations == 150
    # Without a checkpoint it cannot be resumed, and its result is kept.
    for path in (tmp_path / "a").glob("checkpoints/*/manifest.json"):
        path.unlink()
    with pytest.raises(InputError, match="no checkpoints"):
        resumed(tmp_path / "a", stop="generations=200")
    (tmp_path / "a" / "solution.parquet").unlink()
    with pytest.raises(InputError, match=r"first\.tour: No such file"):
        resumed(tmp_path / "a", stop="generations=200")


def test_a_profit_is_checked_with_its_own_sign() -> None:
    order = np.arange(5, dtype=np.int64)
    check_exactly(FakeProblem(maximise=True), Candidate(-100, 0, order, order), 100)
    with pytest.raises(RunError, match="the cost -100"):
        check_exactly(FakeProblem(maximise=True), Candidate(-100, 0, order, order), -100)


@pytest.mark.parametrize(
    ("seen", "sharers"),
    [
        ([["a", "b"], ["a", "b"]], [1, 1]),
        ([["a"], ["a"], ["a", "b"]], [2, 2, 1]),
        ([["a"], ["b"], ["b"], ["b"]], [1, 3, 3, 3]),
    ],
)
def test_ranks_on_a_gpu_are_counted(
    seen: list[list[str]], sharers: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def chosen(name: str, threads: object, gpu: int, sharers: int) -> Any:
        return SimpleNamespace(sharers=sharers)

    monkeypatch.setattr(build, "is_gpu", lambda _: True)
    monkeypatch.setattr(build, "choose", chosen)

    monkeypatch.setattr("islands.backends.gpus.identities", lambda: ["any"])

    def taken(world: World) -> Any:
        world.local_rank, world.local_size = world.rank, world.size
        world.local_allgather = lambda _: seen
        return build.take_device(world, "cuda", share_gpu=True).sharers

    assert on_ranks(len(seen), taken) == sharers
