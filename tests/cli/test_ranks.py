"""Slices of one grid with an improver give the same result on any number of ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import islands
from islands.testing.ranks import on_ranks
from islands.testing.runs import facts

RUN: dict[str, Any] = {"algorithm": "cellular", "replacement": "generational", "halo": True}
RUN |= {"population": 10, "islands": 5, "backend": "cpu", "seed": 7, "threads": 1, "group": 4}
RUN |= {"record.every": 5}
PARTS: dict[str, dict[str, Any]] = {
    "ring, tabu": {"improver": {"name": "tabu", "steps": 4, "rate": 0.5}},
    "torus, two_opt": {
        "grid": "torus",
        "width": 5,
        "shape": "moore",
        "improver": {"name": "two_opt", "steps": 2, "every": 3},
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("parts", PARTS)
def test_any_number_of_ranks_gives_the_same_result(parts: str) -> None:
    settings = RUN | PARTS[parts]
    alone = facts(islands.solve("demo/qap", generations=14, **settings))

    def begin(world: Any) -> Any:
        return facts(islands.solve("demo/qap", generations=14, world=world, **settings))

    for ranks in (2, 3, 4):
        assert on_ranks(ranks, begin) == [alone] * ranks


def test_resuming_on_another_number_of_ranks_gives_the_same_result() -> None:
    settings = RUN | PARTS["ring, tabu"]
    alone = facts(islands.solve("demo/qap", generations=14, **settings))

    def begin(world: Any) -> None:
        islands.solve("demo/qap", generations=6, out=Path("a"), world=world, **settings)

    on_ranks(3, begin)

    def end(world: Any) -> Any:
        return facts(islands.resume("a", generations=14, world=world))

    assert on_ranks(2, end) == [alone] * 2
