"""Arguments that models could take for others, and that are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import islands
from islands import models
from islands.errors import UsageError

IS_COVERED = np.array([[True, False, True], [False, True, True]])
THREE = np.timedelta64(3, "s")


class _Unsized(list[Any]):
    def __len__(self) -> int:
        raise RuntimeError


REFUSED: dict[str, Callable[[], Any]] = {
    "rows of truth values": lambda: models.set_cover([1, 1, 1], IS_COVERED),  # type: ignore[arg-type]
    "lists of truth values": lambda: models.set_cover([1, 1, 1], IS_COVERED.tolist()),
    "objects": lambda: models.set_cover([1, 1, 1], IS_COVERED.astype(object)),  # type: ignore[arg-type]
    "edges": lambda: models.max_cut(np.array([[True, False]])),
    "colours": lambda: models.graph_colouring([[True, False]]),
    "machines": lambda: models.job_shop(np.eye(2, dtype=bool), [[1, 2], [3, 4]]),
    "a duration as n": lambda: islands.permutation(THREE, function=sum),  # type: ignore[arg-type]
    "as capacity": lambda: models.bin_packing([1, 2], THREE),  # type: ignore[arg-type]
    "as p": lambda: models.p_median([[1, 2, 4, 5]], THREE),  # type: ignore[arg-type]
    "as choose": lambda: islands.subset(5, choose=THREE, function=sum),
    "as a limit": lambda: islands.subset(5, choose=(1, THREE), function=sum),
    "as parts": lambda: islands.permutation(5, parts=THREE, function=sum),
    "as an item": lambda: models.qubo({(0, THREE): 1}),
    "a release after which times do not fit": lambda: models.job_shop(
        [[0]], [[9]], release=[2**30 - 5], due=[2**30 - 5], objective="tardiness"
    ),
    "without length": lambda: models.set_cover([1, 1], _Unsized([[0]])),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_only_resembles_numbers_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        REFUSED[name]()


def test_the_columns_of_truth_values_cover() -> None:
    """What the message of the refusal says to write."""
    problem = models.set_cover([1, 1, 1], [np.flatnonzero(row) for row in IS_COVERED])  # type: ignore[misc]
    assert problem.costs(np.array([[1, 1, 0], [0, 0, 1]])).tolist() == [2, 1]


@pytest.mark.parametrize("rows", [[{0}, {1}], ({0} for _ in range(2))])
def test_sets_and_generators_are_refused_and_their_lists_taken(rows: Any) -> None:
    with pytest.raises(UsageError, match=r"\[\*rows"):
        models.set_cover([1, 1], rows)
    assert models.set_cover([1, 1], [[*row] for row in ({0}, {1})]).cost([1, 1]) == 2
