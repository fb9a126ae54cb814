"""The callback of `solve`: when it is called, and how it ends a run."""

from __future__ import annotations

import sys
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import islands
from islands import Progress, solve
from islands.errors import RunError
from islands.parallel import World
from islands.parallel.failure import portable
from islands.testing.ranks import on_ranks

FEW: dict[str, Any] = {
    "islands": 2,
    "population": 16,
    "backend": "cpu",
    "improver": "none",
    "interval": 6,
    "record": {"every": 4},
    "threads": 1,
}
EPOCHS = [0, 4, 6, 8, 12, 16, 18, 20]


def test_it_sees_the_progress_of_each_epoch() -> None:
    seen: list[Progress] = []
    result = solve("demo/tsp", generations=20, callback=seen.append, **FEW)
    assert [each.generation for each in seen] == EPOCHS
    last = seen[-1]
    assert isinstance(last, Progress)
    assert (last.cost, last.gap, last.best_known) == (result.cost, result.gap, result.best_known)
    assert (last.evaluations, last.seconds) == (result.evaluations, result.seconds)
    with pytest.raises(FrozenInstanceError):
        last.cost = 0  # type: ignore[misc]


def test_true_ends_the_run_normally(tmp_path: Path) -> None:
    answer = np.True_
    whole = solve("demo/tsp", generations=8, **FEW)
    result = solve(
        "demo/tsp",
        generations=20,
        callback=lambda progress: answer if progress.generation == 8 else None,
        out=tmp_path / "a",
        **FEW,
    )
    assert (result.generations, result.reason) == (8, "the callback returned True")
    assert (result.digest, result.interrupted, result.suspended) == (whole.digest, False, False)
    assert (tmp_path / "a" / "solution.tour").exists()


@pytest.mark.parametrize("answer", [np.False_, 1, "stop"])
def test_other_values_do_not_end_the_run(answer: object) -> None:
    result = solve("demo/tsp", generations=8, callback=lambda _: answer, **FEW)
    assert result.reason == "8 generations done"


class OwnError(Exception):
    def __init__(self, first: int, second: int) -> None:  # cannot be unpickled
        super().__init__(f"{first} and {second}")


def failing(progress: Progress) -> None:
    if progress.generation == 6:
        raise OwnError(1, 2)


def test_its_exception_ends_the_run_with_its_traceback() -> None:
    with pytest.raises(OwnError, match="1 and 2") as caught:
        solve("demo/tsp", generations=20, callback=failing, **FEW)
    assert caught.traceback[-1].name == "failing"


def test_it_cannot_end_the_process() -> None:
    with pytest.raises(RunError, match=r"sys\.exit"):
        solve("demo/tsp", generations=20, callback=lambda _: sys.exit(0), **FEW)


def test_rank_0_calls_it_and_all_ranks_agree() -> None:
    called: list[tuple[int, int]] = []

    def work(world: World) -> tuple[str, str]:
        def watch(progress: Progress) -> bool:
            called.append((world.rank, progress.generation))
            return progress.generation == 8

        # Another rank may have no callback.
        mine = watch if world.rank < 2 else None
        result = solve(
            "demo/tsp", generations=20, callback=mine, world=world, **{**FEW, "islands": 3}
        )
        return result.reason, result.digest

    first, *others = on_ranks(3, work)
    assert first[0] == "the callback returned True"
    assert others == [first, first]
    assert called == [(0, 0), (0, 4), (0, 6), (0, 8)]


def test_all_ranks_raise_its_exception() -> None:
    def work(world: World) -> str:
        def fail(_: Progress) -> None:
            raise ZeroDivisionError("in the callback")

        with pytest.raises(ZeroDivisionError, match="in the callback") as caught:
            solve("demo/tsp", generations=20, callback=fail, world=world, **FEW)
        return "".join(getattr(caught.value, "__notes__", []))

    first, second = on_ranks(2, work)
    assert first == ""
    assert "On rank 0:" in second
    assert "in fail" in second


def test_exceptions_that_cannot_be_pickled_reach_other_ranks_as_text() -> None:
    copy = portable(OwnError(1, 2))
    assert isinstance(copy, islands.IslandsError)
    assert str(copy) == "OwnError: 1 and 2"
