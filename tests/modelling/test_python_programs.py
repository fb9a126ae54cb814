"""Costs in Python do not change the programs of a problem, nor does its size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from programs_for_tests import parts

import islands
from islands.algorithms import ALGORITHMS
from islands.encodings import base_encoding

_MAKERS: dict[str, Callable[..., Any]] = {
    "permutation": islands.permutation,
    "subset": islands.subset,
    "keys": islands.keys,
    "real": lambda n, **cost: islands.real(0.0, 1.0, n, **cost),
}
_SEARCHES = {
    "permutation": ("tempering", "permutation"),
    "subset": ("tempering", "bits"),
    "keys": ("brkga", "keys"),
    "real": ("de", "vector"),
}


@pytest.mark.parametrize("kind", list(_MAKERS))
def test_a_function_and_a_size_do_not_change_the_programs(kind: str) -> None:
    algorithm, encoding = _SEARCHES[kind]
    assert base_encoding(encoding) in ALGORITHMS[algorithm].encodings
    settings = {"rungs": 4} if algorithm == "tempering" else {}
    functions = (lambda one: int(sum(one) > 3), lambda one: int(max(one) > 0))
    made = [
        parts(_MAKERS[kind](n, function=function), algorithm, encoding, settings)
        for n, function in zip((20, 90), functions, strict=True)
    ]
    assert made[0].macros() == made[1].macros()
    assert made[0].encoding_macros() == made[1].encoding_macros()
    assert all(each.is_python for each in made)
