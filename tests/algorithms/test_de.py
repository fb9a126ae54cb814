"""Differential evolution on all devices compared with NumPy, bit for bit, and its settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pytest
from numpy_de import NumpyDe
from numpy_improvers import NumpyLocalSearch
from numpy_streams import DONORS, words
from problems_for_tests import cities, facilities

from islands.algorithms.de import De, DeSettings
from islands.archipelago.archipelago import Archipelago
from islands.backends import choose
from islands.backends.base import Backend
from islands.errors import UsageError
from islands.improvers import ImproverSettings
from islands.migration import MigrationSettings
from islands.parallel import World
from islands.problems import load
from islands.problems.base import Problem
from islands.spec.resolve import layers, resolve

STRATEGIES = ["rand/1", "best/1", "current-to-best/1"]
PROBLEMS: dict[str, Callable[[int, Path], Problem]] = {
    "tsp": cities,
    "qap": lambda n, _: facilities(n, symmetric="neither", diagonal=True),
}


def both(
    backend: Backend,
    problem: Problem,
    *,
    topology: str = "none",
    migrants: int = 2,
    search: NumpyLocalSearch | None = None,
    warm_start: Any = tuple,
    **changes: Any,
) -> tuple[Archipelago, NumpyDe]:
    """Return a new archipelago and the reference."""
    rest = {"population": 20, "islands": 3, "seed": 5}
    rest |= {name: changes.pop(name) for name in list(changes) if name in rest}
    settings = DeSettings.build(changes)
    improver = {"name": search.name, "rate": search.rate, "steps": 1} if search else {}
    mine = Archipelago(
        problem=problem,
        algorithm="de",
        encoding="keys",
        settings=settings,
        migration=MigrationSettings.build({"topology": topology, "migrants": migrants}),
        backend=backend,
        world=World(),
        improver=ImproverSettings.build(improver),
        warm_start=warm_start,
        **rest,
    )
    mine.start()
    reference = NumpyDe(
        problem.size, problem.costs, settings, assigns=problem.assigns, search=search, **rest
    )
    return mine, reference


def assert_same(mine: Archipelago, reference: NumpyDe) -> None:
    saved = mine.snapshot()
    assert saved["cost"].tolist() == [cost.tolist() for cost in reference.cost]
    assert (saved["genes"][:, :, : reference.n] == np.stack(reference.keys)).all()
    assert [measure.evaluations for measure in mine.measure()] == reference.calls
    if reference.adapts:
        rates = np.array(reference.rates, np.float32)
        assert (np.stack([saved["weight"], saved["crossover"]], axis=2) == rates).all()


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 26])
def test_run_with_migration_equals_the_reference(
    backend: Backend, kind: str, n: int, tmp_path: Path
) -> None:
    mine, reference = both(backend, PROBLEMS[kind](n, tmp_path), topology="ring")
    assert_same(mine, reference)
    for _ in range(2):
        mine.advance(4)
        mine.migrate()
        reference.evolve(4)
        reference.exchange_in_ring(2)
        assert_same(mine, reference)


@pytest.mark.parametrize("adaptation", ["none", "jde"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_each_strategy_and_adaptation_equals_the_reference(
    backend: Backend, strategy: str, adaptation: str
) -> None:
    mine, reference = both(
        backend, facilities(13), strategy=strategy, adaptation=adaptation, F=0.5, Cr=0.6, low=-1,
        high=7, topology="ring",
    )  # fmt: skip
    for _ in range(2):
        mine.advance(8)
        reference.evolve(8)
        assert_same(mine, reference)
        mine.migrate()
        reference.exchange_in_ring(2)
    if adaptation == "jde":
        assert len({rate for island in reference.rates for rate in island}) > 10


@pytest.mark.parametrize("adaptation", ["none", "jde"])
def test_islands_restart_after_stagnation_and_keep_the_best(
    backend: Backend, adaptation: str
) -> None:
    problem = facilities(5)
    mine, reference = both(backend, problem, reset=3, adaptation=adaptation)
    best = [int(cost.min()) for cost in reference.cost]
    for _ in range(12):
        mine.advance(2)
        for _ in range(2):
            reference.evolve(1)
            best = [min(old, int(new.min())) for old, new in zip(best, reference.cost, strict=True)]
        assert_same(mine, reference)
    assert reference.restarts > 3
    assert [measure.best for measure in mine.measure()] == best
    assert mine.best().cost == min(best) == problem.cost(mine.best().solution)


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("name", ["swap", "two_opt", "reinsert"])
def test_improvers_change_trials_and_their_keys(
    backend: Backend, kind: str, name: str, tmp_path: Path
) -> None:
    problem = PROBLEMS[kind](9, tmp_path)
    search = NumpyLocalSearch(problem, name, steps=1, rate=0.4)
    mine, reference = both(backend, problem, search=search, islands=2)
    mine.advance(6)
    reference.evolve(6)
    assert_same(mine, reference)


def take_over(mine: Archipelago, reference: NumpyDe, saved: dict[str, Any]) -> None:
    """Replace the population of both by a changed one."""
    mine.restore(saved, generation=0, migrations=0)
    reference.keys = [island[:, : reference.n].copy() for island in saved["genes"]]
    reference.cost = [island.copy() for island in saved["cost"]]


@pytest.mark.parametrize("kind", PROBLEMS)
def test_improvers_make_equal_keys_different(backend: Backend, kind: str, tmp_path: Path) -> None:
    """Sums of small integers are often equal, but improved keys must be different."""
    problem = PROBLEMS[kind](9, tmp_path)
    search = NumpyLocalSearch(problem, "swap", steps=1)
    mine, reference = both(backend, problem, search=search, islands=1, F=1)
    saved = mine.snapshot()
    saved["genes"] = np.floor(saved["genes"] / 2)
    solutions = reference.decoded(saved["genes"][0, :, :9])
    saved["cost"] = problem.costs(solutions)[np.newaxis]
    take_over(mine, reference, saved)
    mine.advance(6)
    reference.evolve(6)
    assert_same(mine, reference)
    saved = mine.snapshot()
    assert (problem.costs(reference.decoded(saved["genes"][0, :, :9])) == saved["cost"]).all()


def test_trials_with_infinite_keys_are_rejected(backend: Backend) -> None:
    mine, reference = both(
        backend, facilities(6), strategy="current-to-best/1", F=2, Cr=1, islands=1
    )
    # With the highest possible costs, selection accepts all trials.
    saved = mine.snapshot()
    saved["genes"] = np.where(saved["genes"] > 0, np.float32(9e29), np.float32(-9e29))
    saved["genes"][0, 3, 1] = np.float32(3e38)
    saved["cost"] += 10**9
    take_over(mine, reference, saved)
    mine.advance(3)
    reference.evolve(3)
    assert_same(mine, reference)
    assert np.isfinite(mine.snapshot()["genes"]).all()


def test_the_best_individual_is_never_lost(backend: Backend, tmp_path: Path) -> None:
    mine, _ = both(backend, cities(40, tmp_path), topology="ring", strategy="best/1")
    before = [measure.best for measure in mine.measure()]
    for _ in range(5):
        mine.advance(5)
        mine.migrate()
        after = [measure.best for measure in mine.measure()]
        assert all(new <= old for new, old in zip(after, before, strict=True))
        before = after


def test_given_solutions_are_the_first_individuals(backend: Backend) -> None:
    problem = facilities(15)
    orders = [np.random.default_rng(i).permutation(15).astype(np.int64) for i in range(5)]
    mine, _ = both(backend, problem, warm_start=lambda: orders)
    costs = problem.costs(np.stack(orders)).tolist()
    saved = mine.snapshot()["cost"]
    given = [saved[island, : len(orders[island::3])].tolist() for island in range(3)]
    assert given == [costs[island::3] for island in range(3)]


@pytest.mark.parametrize("n", [127, 128, 129, 300])
def test_devices_agree_for_counted_and_sorted_places(
    backend: Backend, n: int, tmp_path: Path
) -> None:
    digests = []
    for device in (choose("cpu", 1), backend):
        problem = cities(n, tmp_path)
        mine, reference = both(device, problem, adaptation="jde", islands=2)
        mine.advance(3)
        reference.evolve(3)
        assert_same(mine, reference)
        digests.append(mine.digests())
        assert problem.cost(mine.best().solution) == mine.best().cost
    assert digests[0] == digests[1]


def test_all_choices_of_donors_are_equally_likely() -> None:
    """Test the reference, which equals the kernels, with a population of five."""
    seen = np.zeros((5, 5, 5, 5), int)
    for generation in range(800):
        for slot in range(5):
            others = [other for other in range(5) if other != slot]
            draws = words(4, DONORS, 1, 0, generation, slot).tolist()[:3]
            a, b, c = (others.pop(draw * len(others) >> 32) for draw in draws)
            seen[slot, a, b, c] += 1
    counts = seen[seen > 0]
    assert len(counts) == 5 * 4 * 3 * 2
    # The chi-square statistic of 115 degrees of freedom exceeds 190 once in a hundred thousand.
    assert ((counts - 800 / 24) ** 2 / (800 / 24)).sum() < 190


@pytest.mark.published
@pytest.mark.parametrize(("name", "gaps"), [("chr12c", (4.0, 24.0)), ("bur26a", (0.8, 1.6))])
def test_gaps_of_experiment_a_of_the_thesis(
    backend: Backend, published: Path, name: str, gaps: tuple[float, float]
) -> None:
    """Table 3 has mean gaps of 10.3 to 15.9 % and of 1.08 to 1.35 % for three versions."""
    problem = load(f"qaplib/{name}")
    spec = resolve(layers({"preset": "jardim2021-a", "instance": f"qaplib/{name}"}), problem)
    mine = Archipelago(
        problem=problem,
        algorithm=spec.algorithm,
        encoding=spec.encoding,
        settings=spec.settings,
        population=spec.general.population,
        islands=spec.general.islands,
        seed=1,
        migration=spec.migration,
        backend=backend,
        world=World(),
        runs=3,
    )
    mine.start()
    mine.advance(1000)
    measures = mine.measure()
    assert [measure.evaluations for measure in measures] == 3 * [1_025_024]
    found = [problem.gap(measure.best) for measure in measures]
    assert gaps[0] < mean(gap for gap in found if gap is not None) < gaps[1]


@pytest.mark.parametrize(
    ("settings", "population", "message"),
    [
        ({}, 3, "population=3: must be at least 4 for de"),
        ({"low": 3, "high": 3}, 20, "low=3 with high=3: low must be less than high"),
        ({"F": -0.1}, 20, "F=-0.1: must be from 0 to 2"),
        ({"Cr": 1.1}, 20, "Cr=1.1: must be from 0 to 1"),
        ({"strategy": "best/2"}, 20, "Did you mean 'best/1'?"),
        ({"adaptation": "jade"}, 20, "Did you mean 'jde'?"),
        ({"CR": 0.5}, 20, "unknown setting 'CR'. Did you mean 'Cr'?"),
    ],
)
def test_invalid_settings_are_refused(
    settings: dict[str, Any], population: int, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        De(DeSettings.build(settings), population)
    assert message in str(caught.value)
