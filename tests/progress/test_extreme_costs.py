"""Costs up to the largest double: means, gaps and summaries are those of exact arithmetic."""

from __future__ import annotations

import json
import sys
import warnings
from fractions import Fraction
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from fakes import FakeProblem
from results_for_tests import result

import islands
from islands import statistics
from islands.backends.base import Backend
from islands.campaign.summary import Summary, table
from islands.display.screen import row
from islands.instances.catalogue import BestKnown
from islands.problems.scale import Scale
from islands.progress.progress import Progress
from islands.statistics import LARGEST, against, percent_worse

HUGE = 1.7e308
MOST = sys.float_info.max


def two_costs(orders: Any) -> Any:
    """Return a huge cost of either sign."""
    return np.where(orders[:, 0] % 2 == 0, -HUGE, HUGE)


@pytest.mark.slow
@pytest.mark.parametrize("maximise", [False, True])
@pytest.mark.parametrize("best_known", [None, 0.0, 3.0, -HUGE, HUGE])
def test_a_run_with_huge_costs_ends_well(maximise: bool, best_known: float | None) -> None:
    def batch(orders: Any) -> Any:
        return two_costs(orders)

    problem = islands.permutation(12, batch=batch, maximise=maximise, best_known=best_known)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = islands.solve(
            problem,
            islands=4,
            population=16,
            generations=5,
            record={"every": 1},
            backend="cpu",
            threads=1,
        )
    assert found.cost == (HUGE if maximise else -HUGE)
    json.loads(found.to_json(), parse_constant=pytest.fail)
    means = found.trace()["mean"].to_numpy()
    # Costs of both signs, so that a sum of them exceeds all doubles on the way.
    assert np.isfinite(means).all()
    steps = means / HUGE * 16
    assert steps == pytest.approx(np.round(steps))
    assert (np.round(steps) % 2 == 0).all()


@pytest.mark.parametrize("factor", [1.0, 3e-310, HUGE / 11])
def test_means_are_those_of_the_population(backend: Backend, factor: float) -> None:
    problem = islands.permutation(12, batch=lambda orders: (orders[:, 0] - 5.5) * factor)
    solver = islands.Solver(
        problem, algorithm="ga", islands=2, population=10, mutation_rate=0.5, backend=backend.name
    )
    solver.evolve(1)
    for measure, genomes in zip(solver._archipelago.measure(), solver.populations(), strict=True):
        firsts = genomes[:, 0].tolist()
        exact = sum(Fraction((each - 5.5) * factor) for each in firsts) / len(firsts)
        assert measure.mean == pytest.approx(float(exact), rel=1e-14, abs=1e-303)


def test_moments_of_huge_numbers() -> None:
    values = [HUGE, -HUGE, HUGE, MOST]
    assert statistics.mean(values) == pytest.approx(float(sum(map(Fraction, values)) / 4))
    assert statistics.mean([0.1, 0.2, 0.4]) == fmean([0.1, 0.2, 0.4])
    assert statistics.deviation([HUGE, HUGE]) == 0.0
    assert statistics.deviation([HUGE, -HUGE]) is None
    assert statistics.deviation([HUGE]) is None


def test_losses_of_huge_costs() -> None:
    costs = np.array([HUGE, -HUGE, 1.6e308, np.inf])
    assert percent_worse(costs, -HUGE)[:2].tolist() == pytest.approx([200, 0])
    assert percent_worse(costs, HUGE, maximise=True)[2] == pytest.approx(100 * (1 - 1.6 / 1.7))
    assert percent_worse(costs, 3.0).tolist() == [LARGEST, -LARGEST, LARGEST, np.inf]
    assert percent_worse(np.array([3.0, 2.5]), 0.0).tolist() == [3.0, 2.5]


def test_gaps_of_huge_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    stated = FakeProblem(BestKnown(-1.6e308, "optimal", ""))
    monkeypatch.setattr(FakeProblem, "scale", Scale(real=True))
    assert stated.gap(-HUGE) == pytest.approx(-6.25)
    assert stated.gap(HUGE) == pytest.approx(206.25)


@pytest.mark.slow
def test_tests_of_huge_losses() -> None:
    losses = np.array([[1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, np.inf]] * 3)
    assert against(HUGE * losses, 0)[1] == against(losses, 0)[1]


def test_summaries_and_rows_of_huge_costs() -> None:
    runs = [result(cost=cost, best_known=None, gap=None) for cost in (HUGE, -HUGE, HUGE)]
    found = Summary.of(runs, Scale(maximise=False))
    assert found.mean == pytest.approx(HUGE / 3)
    assert found.standard_deviation is None
    assert max(map(len, table([found]).split("\n"))) < 140
    progress = Progress(5, 320, 1.0, -HUGE, 0, 3, HUGE, gap=-LARGEST)
    assert len(row(progress, None)) < 110
