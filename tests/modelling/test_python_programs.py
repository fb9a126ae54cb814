"""Costs in Python do not change the programs of a problem, nor does its size."""

from __future__ import annotations

from typing import Any

import pytest
from programs_for_tests import parts

import islands


@pytest.mark.parametrize(
    ("make", "algorithm", "encoding"),
    [
        (islands.permutation, "tempering", "permutation"),
        (islands.subset, "tempering", "bits"),
        (islands.keys, "brkga", "keys"),
        (lambda n, **cost: islands.real(0.0, 1.0, n, **cost), "de", "vector"),
    ],
)
def test_a_function_and_a_size_do_not_change_the_programs(
    make: Any, algorithm: str, encoding: str
) -> None:
    settings = {"rungs": 4} if algorithm == "tempering" else {}
    functions = (lambda one: int(sum(one) > 3), lambda one: int(max(one) > 0))
    one, other = (
        parts(make(n, function=function), algorithm, encoding, settings)
        for n, function in zip((20, 90), functions, strict=True)
    )
    assert one.macros() == other.macros()
    assert one.encoding_macros() == other.encoding_macros()
