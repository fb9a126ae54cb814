"""Invalid states are refused before kernels read them, even from a checkpoint."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from problems_for_tests import facilities, knapsack

from islands.archipelago.archipelago import Archipelago
from islands.archipelago.measure import ISLAND
from islands.backends.base import Backend
from islands.configuration.resolve import layers, resolve
from islands.errors import InputError
from islands.parallel import World
from islands.problems.base import Problem
from islands.run.build import islands_of

State = dict[str, NDArray[Any]]
LARGEST = 2**31 - 1


def made(problem: Problem, backend: Backend, **options: Any) -> Archipelago:
    asked = {"islands": 2, "population": 8, "stop": "generations=9", "improver": "none"} | options
    asked |= {"elite": 0.25, "mutants": 0.25} if options["algorithm"] == "brkga" else {}
    return islands_of(resolve(layers(asked), problem), problem, World(), backend)


def saved_by(archipelago: Archipelago) -> State:
    archipelago.start()
    archipelago.advance(3)
    return archipelago.snapshot()


def require_refused(archipelago: Archipelago, saved: State, what: str) -> None:
    with pytest.raises(InputError, match=f"the saved array {what}"):
        archipelago.restore(saved, generation=3, migrations=0)


@pytest.mark.parametrize("gene", [LARGEST, -1, 9])
def test_genes_outside_the_instance_are_refused(backend: Backend, gene: int) -> None:
    archipelago = made(facilities(9), backend, algorithm="ga", encoding="permutation")
    saved = saved_by(archipelago)
    archipelago.restore(saved, generation=3, migrations=0)
    saved["genes"][1, 2, 4] = gene
    require_refused(archipelago, saved, "genes holds an invalid genome of the encoding permutation")


def test_a_repeated_item_is_refused(backend: Backend) -> None:
    archipelago = made(facilities(9), backend, algorithm="ga", encoding="permutation")
    saved = saved_by(archipelago)
    saved["genes"][0, 0, 0] = saved["genes"][0, 0, 1]
    require_refused(archipelago, saved, "genes")


@pytest.mark.parametrize("key", [1.0, -0.25, np.inf, np.nan])
def test_keys_outside_the_sortable_range_are_refused(backend: Backend, key: float) -> None:
    archipelago = made(facilities(9), backend, algorithm="brkga")
    saved = saved_by(archipelago)
    saved["genes"][0, 0, 8] = key
    require_refused(archipelago, saved, "genes holds an invalid genome of the encoding keys")


def test_keys_sorted_by_comparison_may_be_any_finite_numbers(backend: Backend) -> None:
    archipelago = made(facilities(9), backend, algorithm="de")
    saved = saved_by(archipelago)
    saved["genes"][0, 0, 0] = 17.0
    archipelago.restore(saved, generation=3, migrations=0)


def test_bits_after_the_last_item_are_refused(backend: Backend) -> None:
    archipelago = made(knapsack(40, 2), backend, algorithm="ga", encoding="bits")
    saved = saved_by(archipelago)
    saved["genes"][0, 0, 1] |= np.uint32(1 << 8)
    require_refused(archipelago, saved, "genes holds an invalid genome of the encoding bits")


@pytest.mark.parametrize("place", [LARGEST, -1, 8])
def test_orders_outside_the_population_are_refused(backend: Backend, place: int) -> None:
    archipelago = made(facilities(9), backend, algorithm="brkga")
    saved = saved_by(archipelago)
    saved["order"][1, 0] = place
    require_refused(archipelago, saved, "order holds a row that is not a permutation")


@pytest.mark.parametrize(("name", "value"), [("generation", 4), ("number", 7), ("seed", 9)])
def test_islands_of_another_run_are_refused(backend: Backend, name: str, value: int) -> None:
    archipelago = made(facilities(9), backend, algorithm="brkga")
    saved = saved_by(archipelago)
    saved["island"][1, ISLAND.index(name)] = value
    require_refused(archipelago, saved, f"island holds a {name} that differs from this run")


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
