"""Runs that continue after other ranks have died."""

from __future__ import annotations

import gc
import weakref
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from fakes import FakeProblem
from runs_for_tests import Honest

from islands.parallel import RanksLostError, World
from islands.run.runner import run_requested
from islands.run.single import Output


class Shrinking(World):
    """A world of two ranks, one of which dies."""

    def __init__(self) -> None:
        super().__init__(fault_tolerant=True)
        self.shrunk = 0

    def shrink(self) -> None:
        self.shrunk += 1


class Losing(Honest):
    """Loses a rank twice: first in a generation, then while resuming."""

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


def test_the_remaining_ranks_resume_from_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("islands.run.build.Archipelago", Losing)
    monkeypatch.setattr(Losing, "lives", 0)
    world, stream = Shrinking(), StringIO()
    output = Output(writes=True, folder=tmp_path / "a", stream=stream)
    options = {"backend": "cpu", "stop": "generations=300", "checkpoint.every": "1e-9"}
    result = run_requested(options, None, world, output, FakeProblem())
    assert (world.shrunk, Losing.lives, result.generations) == (2, 2, 300)
    table = pq.read_table(tmp_path / "a" / "trace" / "rank-000.parquet")
    assert table.column("generation").to_pylist() == [g for g in range(0, 301, 50) for _ in "ab"]


def test_a_failed_start_is_released_before_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, alive = list[weakref.ref[Any]](), list[int]()

    def counted(**arguments: Any) -> Losing:
        alive.append(sum(each() is not None for each in made))
        archipelago = Losing(**arguments)
        made.append(weakref.ref(archipelago))
        return archipelago

    monkeypatch.setattr("islands.run.build.Archipelago", counted)
    monkeypatch.setattr(Losing, "lives", 0)
    options = {"backend": "cpu", "stop": "generations=300", "checkpoint.every": "1e-9"}
    output = Output(writes=True, folder=tmp_path / "a")
    gc.disable()
    try:
        run_requested(options, None, Shrinking(), output, FakeProblem())
        assert alive == [0, 0, 0]
    finally:
        gc.enable()
