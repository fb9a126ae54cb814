"""Tabu search on all devices compared with plain Python that uses full evaluations."""

from collections.abc import Callable
from typing import Any

import pytest
from colonies_for_tests import begun
from numpy_improvers import ImprovedBrkga, Seen, assert_same, unequal_pairs
from numpy_islands import evolve_together
from numpy_tabu import NumpyTabu
from problems_for_tests import cities, facilities, with_equals

from islands.archipelago.archipelago import Archipelago
from islands.backends import choose
from islands.backends.base import Backend
from islands.instances.qaplib import QapFile
from islands.problems.base import Problem
from islands.problems.qap import Qap

BRKGA = {"population": 4, "islands": 2, "seed": 7}

PROBLEMS: dict[str, Callable[[int], Problem]] = {
    "tsp": cities,
    "tsp-matrix": lambda n: cities(n, "GEO"),
    "qap": facilities,
    "qap-diagonal": lambda n: facilities(n, symmetric="a", diagonal=True, largest=300),
    "qap-general": lambda n: facilities(n, symmetric="neither", diagonal=True),
    "qap-large": lambda n: facilities(n, symmetric="neither", diagonal=True, largest=10**7),
    "qap-large-symmetric": lambda n: facilities(n, largest=10**7),
    "qap-equals": lambda n: Qap(QapFile("equals", None, n, *with_equals(n))),
    "qap-equals-turned": lambda n: Qap(QapFile("equals", None, n, *with_equals(n)[::-1])),
    "qap-linear": lambda n: facilities(n, largest=9, linear=999),
    "qap-general-linear": lambda n: facilities(n, symmetric="neither", largest=9, linear=999),
    "qap-large-linear": lambda n: facilities(n, largest=10**7, linear=10**6),
}


def archipelago(backend: Backend, problem: Problem, **search: Any) -> Archipelago:
    mine, _, _ = begun(
        "brkga", "keys", {"elite": 0.25, "mutants": 0.25}, sizes=BRKGA,
        search={"name": "tabu", **search}, problem=problem, backend=backend,
    )  # fmt: skip
    return mine


def compare(
    backend: Backend, problem: Problem, generations: int = 2, **search: Any
) -> dict[str, int]:
    """Compare populations improved on a device and with NumPy."""
    mine = archipelago(backend, problem, **search)
    low, high = search.get("tenure_low", 0.9), search.get("tenure_high", 1.1)
    ends = (round(share * problem.size) for share in (low, high))
    steps, aspiration = search.get("steps", 0) or 20 * problem.size, search.get("aspiration", 0)
    pairs = unequal_pairs(problem) if isinstance(problem, Qap) else None
    tabu = NumpyTabu(Seen(problem), steps, *ends, aspiration, pairs)
    reference = ImprovedBrkga(tabu, elite=1, mutants=1, bias=[round(0.7 * 2**32)], **BRKGA)
    evolve_together(mine, reference, generations, assert_same)
    return tabu.kinds


@pytest.mark.parametrize(
    ("kind", "aspiration"), [*((kind, 40) for kind in PROBLEMS), ("qap", 0), ("qap-general", 0)]
)
def test_each_search_equals_the_reference(backend: Backend, kind: str, aspiration: int) -> None:
    problem = PROBLEMS[kind](12)
    for steps, generations in ((1, 2), (120, 1)):
        compare(backend, problem, generations, steps=steps, aspiration=aspiration)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tsp", "qap", "qap-general"])
def test_orders_of_up_to_five_items_equal_the_reference(backend: Backend, kind: str) -> None:
    for n in (1, 2, 3, 4, 5):
        compare(backend, PROBLEMS[kind](n))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["qap", "qap-general", "qap-large", "qap-equals"])
def test_sizes_around_those_of_vectors_equal_the_reference(backend: Backend, kind: str) -> None:
    for n in (8, 9, 15, 16, 17):
        compare(backend, PROBLEMS[kind](n), generations=1, steps=60)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["qap-diagonal", "qap-general"])
def test_matrices_too_large_for_a_cache_equal_the_reference(
    backend: Backend, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("islands.problems.qap._CACHED", 25)
    for n in (25, 26):
        problem = PROBLEMS[kind](n)
        assert problem.defines()["QAP_FITS_CACHE"] == str(int(n == 25))
        compare(backend, problem, generations=1, steps=60)


@pytest.mark.slow
@pytest.mark.parametrize("kind", PROBLEMS)
def test_several_rounds_of_pairs_equal_the_reference(backend: Backend, kind: str) -> None:
    """The last round of each row is incomplete."""
    compare(backend, PROBLEMS[kind](26), generations=1, steps=90)


@pytest.mark.slow
def test_all_kinds_of_steps_occur(backend: Backend) -> None:
    problem = facilities(8)
    always = compare(backend, problem, tenure_low=2, tenure_high=4)
    assert always["below"] > 0
    assert always["free"] > 0
    assert compare(backend, problem, tenure_low=30, tenure_high=30, steps=300)["none"] > 0
    old = compare(backend, problem, aspiration=20, steps=300)
    assert old["old"] > 0
    assert old["free"] > 0


def test_tenures_longer_than_the_search(backend: Backend) -> None:
    compare(backend, facilities(6), tenure_low=0, tenure_high=50_000, steps=60)
    compare(backend, facilities(6), tenure_low=0, tenure_high=0, steps=60)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "changes"),
    [(67, {"symmetric": "neither", "largest": 10**6}), (300, {}), (60, {"linear": 10**6})],
)
def test_long_searches_stay_exact(backend: Backend, n: int, changes: dict[str, Any]) -> None:
    """After thousands of updates the cost is still exact, and GPUs agree with the CPU.

    The matrices of 300 items are too large for the fast memory of a GPU.
    """
    problem = facilities(n, **changes)
    digests = []
    for device in (choose("cpu", 1), backend):
        mine = archipelago(device, problem, steps=2000 if n <= 101 else 100)
        first = mine.best().cost
        mine.advance(1)
        best = mine.best()
        assert best.cost == problem.cost(best.solution)
        assert best.cost < first
        digests.append(mine.digests())
    assert digests[0] == digests[1]
