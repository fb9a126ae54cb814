"""Benchmarks of speeds: what they count, and that they check what they measure."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import permutations
from multiprocessing.pool import ThreadPool
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import islands
from islands.backends.base import Backend
from islands.bench import many, tabu
from islands.bench.base import BenchRequest
from islands.bench.throughput import AlgorithmBench
from islands.errors import RunError
from islands.parallel import World


def measured(bench: AlgorithmBench, generations: int, **changes: Any) -> list[Any]:
    """Return the rows of a short benchmark on the CPU."""
    short = replace(bench, seconds={"cpu": 0.01}, **changes)
    request = BenchRequest(world=World(), backends=["cpu"], generations=generations)
    return list(short.measure(request))


@pytest.mark.slow
def test_every_exchange_of_every_step_is_counted(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tabu, "SIZES", (8, 21))
    monkeypatch.setattr(tabu, "_effort", lambda name, size: (3, 40))
    rows = list(tabu.measure(BenchRequest(world=World(), backends=[backend.name])))
    programs = ["kernel", "loop"] if backend.name == "cpu" else ["kernel"]
    assert [(row["program"], row["size"]) for row in rows] == [
        (program, size) for size in (8, 21) for program in programs
    ]
    for row in rows:
        seconds = row["milliseconds"] / 1000
        pairs = row["size"] * (row["size"] - 1) // 2
        assert row["evaluations_per_second"] * seconds == pytest.approx(3 * 40 * pairs)
        assert 3 * 40 * row["microseconds_a_step"] == pytest.approx(1e6 * seconds)


def test_the_benchmark_fails_on_a_wrong_cost_or_order(backend: Backend) -> None:
    search = tabu.TabuSearches(backend, 12, 2, 5)
    search.measured("kernel")
    search.check()
    costs, orders = search.costs["kernel"], search.orders["kernel"]
    search.costs["kernel"] = costs + np.array([0, 1])
    with pytest.raises(RunError, match=r"kernel, n=12: costs .* are not the exact"):
        search.check()
    search.costs["kernel"], search.orders["kernel"] = costs, 0 * orders
    with pytest.raises(RunError, match="not an assignment of random12"):
        search.check()


class _Backwards:
    """A rival whose tours visit the cities in the order of their numbers, from the last one."""

    def __init__(self, places: dict[int, list[float]]) -> None:
        self.count = len(places)

    def solve_tsp(self, runs: int) -> list[int]:
        assert runs == 1
        return [*range(self.count - 1, -1, -1), self.count - 1]


def request(**settings: object) -> BenchRequest:
    return BenchRequest(world=World(), backends=["cpu"], threads=2, **settings)  # type: ignore[arg-type]


@pytest.mark.slow
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
