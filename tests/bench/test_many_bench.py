"""The benchmark of many instances."""

from __future__ import annotations

import sys
from itertools import permutations
from multiprocessing.pool import ThreadPool
from types import SimpleNamespace

import numpy as np
import pytest

import islands
from islands.bench import many
from islands.bench.base import BenchRequest
from islands.errors import UsageError
from islands.parallel import World


class _Backwards:
    """A rival whose tours visit the cities in the order of their numbers, from the last one."""

    def __init__(self, places: dict[int, list[float]]) -> None:
        self.count = len(places)

    def solve_tsp(self, runs: int) -> list[int]:
        assert runs == 1
        return [*range(self.count - 1, -1, -1), self.count - 1]


def request(**settings: object) -> BenchRequest:
    return BenchRequest(world=World(), backends=["cpu"], threads=2, **settings)  # type: ignore[arg-type]


def test_methods_are_compared_with_each_other_and_a_rival(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "_EFFORT", 6 * 49)
    monkeypatch.setattr(many, "_ASSIGNMENTS", 5)
    monkeypatch.setattr(many, "silent_processes", ThreadPool)
    monkeypatch.setattr(many, "version", lambda package: f"of {package}")
    monkeypatch.setitem(sys.modules, "elkai", SimpleNamespace(Coordinates2D=_Backwards))
    variants = ["population=20", "algorithm=ga encoding=permutation islands=1 population=2"]
    asked = request(cities=(7,), facilities=(4,), rivals=["lkh"], variant=variants)
    lkh, good, poor, *assigned = many.measure(asked)
    places = np.random.default_rng(7).integers(0, 1_000_000, (6, 7, 2)).astype(float)
    orders = np.array([(0, *each) for each in permutations(range(1, 7))])
    problems = [islands.tsp(each, "EUC_2D") for each in places]
    best = np.array([each.costs(orders).min() for each in problems])
    backwards = np.array([each.cost(np.arange(7)) for each in problems])
    assert lkh["method"] == "lkh, elkai of elkai"
    assert [each["instances"] for each in (lkh, good, poor)] == [6, 6, 6]
    assert lkh["at_best"] == (backwards == best).mean()
    assert (lkh["as_good"], lkh["more"]) == (1, 0)
    assert (good["at_best"], good["as_good"]) == (1, 1)
    assert good["more"] == pytest.approx((best / backwards - 1).mean())
    assert poor["at_best"] < 1
    assert [(each["problem"], each["instances"]) for each in assigned] == [("4 facilities", 5)] * 2
    assert assigned[0]["as_good"] is None
    assert all(each["rate"] == each["instances"] / each["seconds"] for each in (lkh, good, poor))


def test_small_tours_are_no_more_than_can_be_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "_MOST_TOURS", 3)
    (row,) = many.measure(request(cities=(5,)))
    assert row["instances"] == 3


def test_other_rivals_are_refused() -> None:
    with pytest.raises(UsageError, match="--rivals ortools: many instances are solved by lkh only"):
        many.measure(request(rivals=["ortools"]))
