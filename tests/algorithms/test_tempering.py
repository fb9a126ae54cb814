"""Parallel tempering on all devices, also of choices, compared with plain Python, bit for bit."""

import os
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy_tempering import FIXED, PROBLEMS, archipelago, assert_evolves, both, torus
from problems_for_tests import facilities, flat, of_two_kinds, with_equals

from islands.algorithms.tempering import sparse
from islands.algorithms.tempering.algorithm import chains_of
from islands.algorithms.tempering.pairs import PairChains
from islands.algorithms.tempering.sparse import NetworkChains
from islands.backends import choose
from islands.backends.base import Backend, Block
from islands.backends.source import Source
from islands.instances.grids import grid
from islands.instances.qaplib import QapFile
from islands.paths import data_folder
from islands.problems.qap import Qap


@pytest.mark.usefixtures("deltas")
@pytest.mark.parametrize("kind", PROBLEMS)
def test_each_matrix_type_equals_the_reference(backend: Backend, kind: str) -> None:
    mine, reference = both(backend, PROBLEMS[kind](9), **FIXED)
    assert_evolves(mine, reference, 12)
    assert min(reference.kinds[kind] for kind in ("renewed", "exchanged", "kept")) > 0


GIVEN = ([3, 1, 0, 2, 5, 4, 6], [0, 1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1, 0])
TUNED = {"tuning": 3, "sweeps": 3, "population": 4}
CASES: dict[str, tuple[Qap, dict[str, Any], int, str]] = {
    **{f"{n} facilities": (facilities(n), {"sweeps": 3, **FIXED}, 3, "") for n in (2, 3, 26)},
    "exchanges of equals count as rows": (PROBLEMS["equals"](9), TUNED, 6, "toll"),
    "exchanges count as rows": (PROBLEMS["symmetric"](40), TUNED, 6, "toll"),
    "one ladder is renewed": (facilities(7), {"population": 4, **FIXED}, 10, "newcomer"),
    "given orders and restarts": (
        *(facilities(7), {"given": GIVEN, "reset": 4, "patience": 0, **FIXED}, 12, "newcomer"),
    ),
}
"""Problems, settings, numbers of generations, and what the reference has to do."""


@pytest.mark.parametrize("case", CASES)
def test_each_case_equals_the_reference(backend: Backend, case: str) -> None:
    problem, settings, generations, wanted = CASES[case]
    mine, reference = both(backend, problem, **settings)
    assert_evolves(mine, reference, generations)
    if wanted:
        assert (reference.toll if wanted == "toll" else reference.kinds[wanted]) > 0


@pytest.mark.parametrize(
    ("n", "is_unstructured", "sweeps"),
    [(12, True, 8), pytest.param(8, False, 100, marks=pytest.mark.slow)],
)
def test_temperatures_are_set_as_in_the_reference(
    n: int, is_unstructured: bool, sweeps: int, backend: Backend
) -> None:
    problem = facilities(n)
    assert problem.swaps.is_unstructured == is_unstructured
    mine, reference = both(backend, problem, tuning=9, sweeps=sweeps, population=4)
    assert_evolves(mine, reference, 12)
    first, last = reference.temperature[0][0][0], reference.temperature[0][0][-1]
    assert reference.low < first / reference.unit < last / reference.unit <= reference.high


@pytest.mark.parametrize(
    ("rows", "kind"),
    [(3, PairChains), (4, NetworkChains), (15, NetworkChains), (16, sparse.SparseChains)],
)
def test_sparse_flows_of_many_items_have_no_stored_changes(rows: int, kind: type) -> None:
    assert chains_of(Qap(grid(rows, 16).file())) is kind


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("factor", "idle"), [(1, 0), (10_000_019, 0), (1, 3)])
def test_stored_changes_of_sparse_flows_are_those_of_all(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, factor: int, idle: int, *, turned: bool
) -> None:
    """Also with costs of 64 bits, and facilities that are equal, as they have no flows."""
    file = grid(5, 6, hidden=2).file(turned=turned)
    flows, distances = (file.b, file.a) if turned else (file.a, file.b)
    flows = flows * factor
    flows[:idle] = flows[:, :idle] = 0
    both_ways = (distances, flows) if turned else (flows, distances)
    found = []
    for fewest, kind in ((10**6, PairChains), (0, NetworkChains)):
        monkeypatch.setattr(sparse.NetworkChains, "fewest", fewest)
        problem = Qap(QapFile("grid", None, len(flows), *both_ways))
        assert chains_of(problem) is kind
        mine = archipelago(backend, problem, population=4, tuning=3, sweeps=20)
        mine.start()
        mine.advance(12)
        found.append(mine.digests())
    assert found[0] == found[1]


@pytest.mark.slow
@pytest.mark.parametrize("turned", [False, True])
def test_sparse_flows_equal_python(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, *, turned: bool
) -> None:
    monkeypatch.setattr(sparse.SparseChains, "fewest", 0)
    problem = Qap(grid(5, 6, hidden=2).file(turned=turned))
    assert chains_of(problem) is sparse.SparseChains
    mine, reference = both(backend, problem, tuning=2, sweeps=1, population=4)
    assert_evolves(mine, reference, 4)
    assert reference.kinds["accepted"] > 0
    assert reference.toll == 1


@pytest.mark.parametrize("is_tuned", [False, True])
def test_a_given_order_becomes_the_coldest_after_tuning(backend: Backend, is_tuned: bool) -> None:
    problem = facilities(7)
    every = np.array([*permutations(range(7))])
    best = every[problem.costs(every).argmin()]
    mine = archipelago(backend, problem, population=4, number=1, tuning=9, sweeps=2)
    mine.start()
    mine.advance(10 if is_tuned else 2)
    saved = mine.snapshot()
    while saved["energy"][0, saved["rung"][0].argmin()] == problem.cost(best):
        mine.advance(1)
        saved = mine.snapshot()
    assert (mine.generation > 9) == is_tuned
    mine.inject([best], 0)
    after = mine.snapshot()
    (slot,) = np.flatnonzero((after["state"] != saved["state"]).any(axis=2)[0])
    assert after["energy"][0, slot] == problem.cost(best)
    before, rungs = saved["rung"][0].tolist(), after["rung"][0].tolist()
    if is_tuned:
        coldest = before.index(0)
        before[coldest], before[slot] = before[slot], 0
    assert rungs == before


@pytest.mark.slow
def test_equal_facilities_and_locations_are_never_exchanged(backend: Backend) -> None:
    n = 20
    b, a = with_equals(n)
    mine, reference = both(backend, Qap(QapFile("alike", None, n, a, b)), sweeps=3, **FIXED)
    assert_evolves(mine, reference, 4)
    assert len(reference.pairs) < n * (n - 1) // 2
    assert reference.kinds["alike"] > 0


def test_any_exchange_is_rejected_if_all_facilities_are_equal(backend: Backend) -> None:
    mine = archipelago(backend, flat(6, 300), **FIXED)
    mine.start()
    before = mine.snapshot()["state"]
    mine.advance(3)
    assert (mine.snapshot()["state"] == before).all()


@pytest.mark.parametrize(("name", "most"), [("int", 2**31 - 1), ("long", 2**63 - 1)])
def test_changes_are_accepted_by_metropolis_rule(backend: Backend, name: str, most: int) -> None:
    draw = np.random.default_rng(3)
    words = np.concatenate([draw.integers(0, 2**32, 300), [0, 1 << 8, 2**31, 2**32 - 1]])
    words = words.astype(np.uint32)
    numbers = (words >> 8) + 1.0
    entry = os.path.relpath(Path(__file__).with_name("acceptance.cuh"), data_folder("kernels"))
    program = backend.compile(Source(entry), Block(32))
    for temperature in (0.0, 1e-3, 1.0, 1e3, 1e6, 1e9, 1e12, 1e18, 1e24, 1e36):
        limits = -np.log(numbers / 2**24) * temperature
        for share in (0.5, 1 - 1e-5, 1 + 1e-5, 2.0):
            raised = np.minimum(share * limits, most // 32).astype(np.int64)
            out = backend.upload(np.full((3, len(words)), -1, np.int32))
            given = np.int32(len(words)), backend.upload(raised), backend.upload(words)
            call = backend.call(
                program, f"check_{name}", *given, np.float64(temperature), out, blocks=1
            )
            backend.run([call])
            may, may_ever, accepts = backend.download(out)
            is_clear = np.abs(raised - limits) > 4e-6 * limits
            assert (accepts == (raised <= limits))[is_clear].all()
            # The fast checks are bounds.
            assert (may >= accepts).all()
            assert (may_ever >= accepts).all()


@pytest.mark.slow
def test_deltas_of_an_abandoned_generation_are_recomputed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("islands.algorithms.tempering.pairs._KEPT_FROM", 1)
    mine, whole = (archipelago(choose("cpu"), facilities(12), **FIXED) for _ in range(2))
    for run in (mine, whole):
        run.start()
        run.advance(2)
    mine.attempt(1)
    mine.undo()
    for run in (mine, whole):
        run.advance(3)
    assert mine.digests() == whole.digests()


CHOICES: dict[str, Callable[[], Qap]] = {
    "symmetric": lambda: of_two_kinds(11, 4),
    "asymmetric": lambda: of_two_kinds(12, 5, symmetric="neither", linear=99),
    "turned": lambda: of_two_kinds(11, 7, symmetric="neither", turned=True),
    "one": lambda: of_two_kinds(9, 1),
    "all-but-one": lambda: of_two_kinds(19, 18),
    "two-runs": lambda: of_two_kinds(39, 20),
    "large": lambda: of_two_kinds(10, 3, largest=10**8),
}


@pytest.mark.slow
def test_a_subset_is_chosen_by_exchanges_with_the_others(backend: Backend) -> None:
    chosen = np.zeros((21, 21), np.int64)
    chosen[:6, :6] = 1
    problem = Qap(QapFile("grey", None, 21, chosen, facilities(21).file.b))
    mine, reference = both(backend, problem, tuning=5, sweeps=4)
    assert len(reference.pairs) == 6 * 15
    assert_evolves(mine, reference, 7)


@pytest.mark.parametrize(
    "kind",
    CHOICES,
)
def test_choices_of_places_equal_the_reference(backend: Backend, kind: str) -> None:
    problem = CHOICES[kind]()
    assert problem.swaps.choice is not None
    mine, reference = both(backend, problem, tuning=4, sweeps=5)
    assert_evolves(mine, reference, 9)
    assert reference.kinds["accepted"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["torus", "asymmetric", "no-choice"])
def test_replicas_that_descend_equal_the_reference(backend: Backend, kind: str) -> None:
    makers = {"torus": lambda: torus(4, 5, 7), "no-choice": lambda: facilities(8), **CHOICES}
    way = FIXED | {"coldest": 0.3, "hottest": 0.8}
    mine, reference = both(backend, makers[kind](), descent=2, sweeps=3, **way)
    assert_evolves(mine, reference, 16)
    assert reference.kinds["renewed"] > 8
    assert reference.kinds["worse"] > 0
    assert (reference.kinds["moved"] > 0) == (kind == "torus")
