"""Ranks that share islands have the bits of a single rank, all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ranks_for_tests import on_ranks
from small_runs import RUNS, evolve, made
from teams_for_tests import copies, decide, require_copies

from islands.archipelago.measure import ISLAND
from islands.archipelago.team import shares
from islands.backends import choose
from islands.parallel import World

RESTARTS = ISLAND.index("restarts")
SMALL = [name for name in RUNS if name != "many cities"]


@pytest.mark.parametrize("population", [1, 2, 3, 8, 24, 25, 100])
def test_members_have_all_slots_in_order_and_make_equally_many(population: int) -> None:
    for members in range(1, 9):
        for copied in (0, 1, population // 4, population - 1, population):
            slots = shares(population, members, copied)
            assert len(slots) == members
            assert [slot for each in slots for slot in each] == list(range(population))
            made = [len(range(max(each.start, copied), max(each.stop, copied))) for each in slots]
            assert max(made) - min(made) <= 1
            assert slots[0].stop >= copied, "those that are only copied are the first ones"


def run(name: str, ranks: World, folder: Path, **given: Any) -> tuple[Any, Any, Any, int]:
    """Return copies, digests, measures and evaluations after some generations and migrations."""
    own = folder / f"{ranks.rank}-of-{ranks.size}"  # a file of cities for each thread
    own.mkdir()
    mine = made(name, own, choose("cpu", 1), ranks, **given)
    evolve(name, mine)
    measures = mine.measure()
    return copies(mine), mine.digests(), measures, sum(each.evaluations for each in measures)


@pytest.mark.parametrize("is_shared", [True, False])
@pytest.mark.parametrize("name", SMALL)
def test_all_members_have_the_bits_of_one_rank(
    name: str, is_shared: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide(monkeypatch, shared=is_shared)
    alone = run(name, World(), tmp_path)
    for size in (4, 7):
        found = on_ranks(size, lambda ranks: run(name, ranks, tmp_path))
        assert [each for rank in found for each in rank[1]] == alone[1]
        assert [each for rank in found for each in rank[2]] == alone[2]
        for rank in found:
            if is_shared or rank[1]:
                require_copies(alone[0], rank[0])


@pytest.mark.parametrize(
    ("islands", "population", "sizes"),
    # Members without a pair of parents, and two teams.
    [(1, 8, (2, 5)), (2, 3, (5, 8)), (3, 8, (2, 10))],
)
def test_tours_that_all_ranks_share_begin_again_together(
    islands: int, population: int, sizes: tuple[int, ...], tmp_path: Path
) -> None:
    given = {"islands": islands, "population": population, "shares_all": True}
    alone = run("eax", World(), tmp_path, **given)
    assert all(fields["island"][RESTARTS] > 0 for fields in alone[0].values())
    for size in sizes:
        found = on_ranks(size, lambda ranks: run("eax", ranks, tmp_path, **given))
        assert [each for rank in found for each in rank[1]] == alone[1]
        assert [each for rank in found for each in rank[2]] == alone[2]
        for rank in found:
            require_copies(alone[0], rank[0])
