"""Parameters: all values occur equally often, and are recovered from their entries."""

import math
from itertools import permutations, product
from typing import Any

import numpy as np
import numpy_exact
import pytest

from islands import space
from islands.space import exact
from islands.space.parameters import Parameter, restored

EVERY: dict[str, tuple[Parameter, list[Any]]] = {
    "integer": (space.integer(-2, 3), [*range(-2, 4)]),
    "one integer": (space.integer(5, 5), [5]),
    "logarithmic integer": (space.integer(1, 9, log=True), [*range(1, 10)]),
    "category": (space.category("a", None, 2.5), ["a", None, 2.5]),
    "order": (space.order(4), [*permutations(range(4))]),
    "subset": (space.subset(4), [*product((0, 1), repeat=4)]),
}


def drawn(parameter: Parameter, count: int) -> Any:
    low, high = parameter.bounds
    units = np.random.default_rng(2).random((count, parameter.count))
    return parameter.entries(low + (high - low) * units, np)


def plain(value: Any) -> Any:
    return tuple(value.tolist()) if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("name", EVERY)
def test_all_values_are_reached_and_no_others(name: str) -> None:
    parameter, values = EVERY[name]
    entries = drawn(parameter, 3000)
    assert parameter.holds(entries)
    assert {plain(parameter.value(row)) for row in entries} == set(values)


@pytest.mark.parametrize("name", EVERY)
def test_a_value_comes_back_from_its_coordinates(name: str) -> None:
    parameter, values = EVERY[name]
    for value in values:
        row = parameter.entries_of(value)[np.newaxis]
        coordinates = parameter.coordinates(row)
        low, high = parameter.bounds
        assert ((coordinates >= low) & (coordinates <= high)).all()
        assert plain(parameter.value(parameter.entries(coordinates, np)[0])) == value


@pytest.mark.parametrize("name", EVERY)
def test_a_parameter_is_restored(name: str) -> None:
    parameter = EVERY[name][0]
    assert restored({"kind": parameter.kind, **parameter.stored()}) == parameter


@pytest.mark.parametrize("name", ["integer", "category", "subset"])
def test_values_are_equally_likely(name: str) -> None:
    parameter, values = EVERY[name]
    found = [plain(parameter.value(row)) for row in drawn(parameter, 16000)]
    counts = [found.count(value) for value in values]
    assert min(counts) > 0.8 * 16000 / len(values)


def test_a_log_scale_has_as_many_numbers_in_each_decade() -> None:
    rates = drawn(space.real(1e-4, 1, log=True), 8000)
    counts = np.histogram(np.log10(rates), 4, (-4, 0))[0]
    assert counts.min() > 1800
    ends = space.real(1e-4, 0.7, log=True)
    both = ends.entries(np.array(ends.bounds), np)
    assert both.tolist() == pytest.approx([1e-4, 0.7])
    assert ends.holds(both[:, np.newaxis])


def test_equal_keys_leave_items_in_their_order() -> None:
    keys = np.array([[0.5, 0.0, 0.5, 0.0]])
    assert space.order(4).entries(keys, np).tolist() == [[1, 3, 0, 2]]


def test_the_exponential_function_has_the_bits_of_kernels() -> None:
    numbers = np.random.default_rng(3).uniform(-690, 690, 2000)
    numbers[:3] = 0, -1e-17, 1
    found = exact.exp(numbers, np)
    assert found.tolist() == [numpy_exact.exp(x) for x in numbers.tolist()]
    assert np.allclose(found, np.exp(numbers), rtol=3e-16, atol=0)


def test_logarithms_are_those_of_the_library_within_a_rounding() -> None:
    for x in (1e-300, 1e-5, 0.5, 1.0, 3.0, 2.0**52, 1e300):
        assert exact.log(x) == pytest.approx(math.log(x), rel=3e-16, abs=0)
