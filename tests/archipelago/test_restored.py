"""Invalid states are rejected before kernels read them, even from a checkpoint."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from problems_for_tests import NUMBERS, facilities, knapsack

from islands.archipelago.archipelago import Archipelago
from islands.archipelago.measure import ISLAND
from islands.backends.base import Backend
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.engine.build import islands_of
from islands.errors import InputError
from islands.parallel import World
from islands.problems.base import Problem

State = dict[str, NDArray[Any]]
LARGEST = 2**31 - 1


def made(problem: Problem, backend: Backend, **options: Any) -> Archipelago:
    request = {"islands": 2, "population": 8, "stop": "generations=9", "improver": "none"} | options
    request |= {"elite": 0.25, "mutants": 0.25} if options["algorithm"] == "brkga" else {}
    return islands_of(resolve(Request.of(request), problem), World(), backend)


def saved_by(archipelago: Archipelago) -> State:
    archipelago.start()
    archipelago.advance(3)
    return archipelago.snapshot()


PERMUTATIONS = (facilities(9), {"algorithm": "ga", "encoding": "permutation"})
KEYS = (facilities(9), {"algorithm": "brkga"})
BITS = (knapsack(40, 2), {"algorithm": "ga", "encoding": "bits"})
VECTORS = (NUMBERS["vector"](11), {"algorithm": "de"})


@pytest.mark.parametrize(
    ("run", "name", "place", "values"),
    [
        (PERMUTATIONS, "genes", (1, 2, 4), [LARGEST, -1, 9]),
        (PERMUTATIONS, "genes", (0, 0, slice(0, 2)), [5]),  # a repeated item
        (KEYS, "genes", (0, 0, 8), [1.0, -0.25, np.inf, np.nan]),
        (VECTORS, "genes", (1, 2, 4), [-0.25, 1.25, np.nan]),
        (BITS, "genes", (0, 0, 1), [1 << 8]),  # behind the last item
        (KEYS, "order", (1, 0), [LARGEST, -1, 8]),
        *(
            (KEYS, "island", (1, ISLAND.index(each)), [7])
            for each in ("generation", "number", "seed")
        ),
    ],
)
def test_invalid_states_are_rejected(
    backend: Backend, run: tuple[Problem, dict[str, Any]], name: str, place: Any, values: list[Any]
) -> None:
    problem, options = run
    archipelago = made(problem, backend, **options)
    saved = saved_by(archipelago)
    archipelago.restore(saved, generation=3, migrations=0)
    for value in values:
        damaged = saved | {name: saved[name].copy()}
        damaged[name][place] = value
        with pytest.raises(InputError, match=f"the saved array {name}"):
            archipelago.restore(damaged, generation=3, migrations=0)


def test_keys_sorted_by_comparison_may_be_any_finite_numbers(backend: Backend) -> None:
    archipelago = made(facilities(9), backend, algorithm="de")
    saved = saved_by(archipelago)
    saved["genes"][0, 0, 0] = 17.0
    archipelago.restore(saved, generation=3, migrations=0)


def test_migrants_in_flight_are_checked(backend: Backend) -> None:
    options = {"migration.delay": 1, "migration": "ring", "migrants": 1}
    archipelago = made(facilities(9), backend, algorithm="ga", encoding="permutation", **options)
    saved_by(archipelago)
    archipelago.migrate()
    saved = archipelago.snapshot()
    archipelago.restore(saved, generation=3, migrations=1)
    saved["emigrants"][1].view(np.int32)[4 + 3] = LARGEST
    with pytest.raises(InputError, match="the saved array emigrants holds an invalid genome"):
        archipelago.restore(saved, generation=3, migrations=1)
    saved["emigrants"] = saved["emigrants"][:, :-4]
    with pytest.raises(InputError, match="emigrants"):
        archipelago.restore(saved, generation=3, migrations=1)


def test_an_empty_archive_holds_any_bits(backend: Backend) -> None:
    options = {"algorithm": "ga", "encoding": "permutation", "reset": 1000}
    archipelago = made(facilities(9), backend, **options)
    saved = saved_by(archipelago)
    saved["archive"][:] = LARGEST
    archipelago.restore(saved, generation=3, migrations=0)
    assert (archipelago.snapshot()["archive"] == LARGEST).all()


def test_an_archive_is_checked_if_there_is_one(backend: Backend) -> None:
    options = {"algorithm": "ga", "encoding": "permutation", "reset": 1}
    archipelago = made(facilities(9), backend, **options)
    archipelago.start()
    archipelago.advance(40)
    saved = archipelago.snapshot()
    assert saved["island"][0, ISLAND.index("ended")] > 0, "nothing was archived"
    archipelago.restore(saved, generation=40, migrations=0)
    saved["archive"][0, 0] = LARGEST
    with pytest.raises(InputError, match="the saved array archive"):
        archipelago.restore(saved, generation=40, migrations=0)
