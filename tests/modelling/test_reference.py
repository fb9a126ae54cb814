"""The reference checks a result; the Python function of a problem computes the costs of a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import islands

_FEW: dict[str, Any] = {"backend": "cpu", "islands": 2, "population": 16, "generations": 5}


def displacement(orders: NDArray[np.int32]) -> NDArray[np.int64]:
    costs: NDArray[np.int64] = np.abs(orders - np.arange(orders.shape[1])).sum(axis=1)
    return costs


@pytest.mark.parametrize("by", ["batch", "function"])
def test_a_reference_that_differs_is_an_error(by: str) -> None:
    function = displacement if by == "batch" else lambda order: int(displacement(order[None])[0])
    wrong = islands.permutation(
        8, **{by: function}, reference=lambda orders: displacement(orders) + 1
    )
    with pytest.raises(islands.IslandsError):
        islands.solve(wrong, **_FEW)
    right = islands.permutation(8, **{by: function}, reference=displacement)
    result = islands.solve(right, **_FEW)
    assert result.solution is not None
    assert result.cost == displacement(result.solution[np.newaxis])[0]
    assert result.checked == "its reference"


def test_the_best_known_value_may_be_of_numpy() -> None:
    problem = islands.permutation(8, batch=displacement, best_known=np.int64(3))
    assert problem.best_known is not None
    assert problem.best_known.value == 3
