from __future__ import annotations

import pytest
from problems_for_tests import knapsack

from islands.bench import ga
from islands.bench.base import Asked
from islands.parallel import World
from islands.problems.base import Problem


def test_bench_counts_the_children_of_each_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(_: str) -> Problem:
        return knapsack(40, 5)

    monkeypatch.setattr(ga, "load", made)
    monkeypatch.setattr(ga, "INSTANCES", ("knapsack",))
    monkeypatch.setattr(ga, "_CPU_SECONDS", 0.001)
    asked = Asked(world=World(), backends=["cpu"], generations=2)
    whole, steady = ga.measure(asked)
    assert (whole.setting, whole.individuals, whole.generations) == ("dantas2014", 8 * 512, 2)
    assert whole.children_per_second == pytest.approx(4096 / (whole.milliseconds / 1000))
    assert (steady.items, steady.constraints, steady.individuals) == (40, 5, 8 * 64)
    # Half of the population have children each, and so has each twin.
    a_generation = steady.children_per_second * steady.milliseconds / 1000
    assert 256 <= a_generation < 1.2 * 256
    assert len(steady.line()) == pytest.approx(len(steady.HEADER), abs=2)
