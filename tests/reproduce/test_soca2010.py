"""The tables of soca2010: the copied figures, and rows made from given runs."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from typing import Any

import pytest
from results_for_tests import called, ended, filled

from islands.instances.catalogue import catalogue
from islands.reproduce.soca2010 import (
    FACTORS,
    PLAN,
    CalibrationTable,
    performance,
    plan_facts,
    quality,
)


def answer(
    runs: int, population: int, crossover_rate: float, mutation_rate: float, neighbours: int
) -> Any:
    """Return better costs for more crossover and for smaller other levels."""
    cost = 1000 - round(100 * crossover_rate) + (population == 2048) + round(20 * mutation_rate)
    return ended([cost + neighbours] * runs, generations=500, seconds=runs * population / 1024)


def test_the_plan_is_orthogonal() -> None:
    assert len(set(PLAN)) == 18
    for (i, one), (j, other) in combinations(enumerate(FACTORS.values()), 2):
        pairs = Counter((levels[i], levels[j]) for levels in PLAN)
        assert set(pairs) == set(product(one, other))
        assert len(set(pairs.values())) == 1


def test_the_plan_chooses_the_best_levels() -> None:
    table = filled(CalibrationTable, answer, runs=2)
    rows = [*table.rows(called("qaplib/kra30a", known=500))]
    assert sum(int(str(row["in_plan"])) for row in rows) == 18
    chosen, gap = plan_facts(rows)
    assert chosen.value == "population 512, crossover_rate 0.9, mutation_rate 0.05, neighbours 2"
    assert gap.value == pytest.approx(100 * (913 / 500 - 1))


def test_the_figures_agree_and_their_instances_are_in_the_catalogue() -> None:
    for row in performance().values():
        assert row.cpu_seconds / row.gpu_seconds == pytest.approx(row.speedup, abs=0.0051)
    assert [name for name, row in quality().items() if row.hits == 0] == ["qaplib/lipa40a"]
    for name in (*quality(), *performance()):
        entry = catalogue().entry(*name.split("/"))
        assert entry is not None, name
        assert entry.best_known is not None, name
