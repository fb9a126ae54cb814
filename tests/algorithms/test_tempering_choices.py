"""Parallel tempering of choices of places, and by descent, compared with plain Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy_tempering import FIXED, assert_evolves, both, torus
from problems_for_tests import facilities, of_two_kinds

from islands.backends.base import Backend
from islands.instances.qaplib import QapFile
from islands.problems.qap import Qap

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
    [pytest.param(kind, marks=pytest.mark.slow if kind == "two-runs" else ()) for kind in CHOICES],
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
    problem = {"torus": lambda: torus(4, 5, 7), "no-choice": lambda: facilities(8), **CHOICES}[
        kind
    ]()
    way = FIXED | {"coldest": 0.3, "hottest": 0.8}
    mine, reference = both(backend, problem, descent=2, sweeps=3, **way)
    assert_evolves(mine, reference, 16)
    assert reference.kinds["renewed"] > 8
    assert reference.kinds["worse"] > 0
    assert (reference.kinds["moved"] > 0) == (kind == "torus")
