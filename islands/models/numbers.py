"""Validation of the data of models: numbers, items and rows, with limits on their sums.

The limits ensure that sums fit into 64 bits, or into the 32 bits of some kernels.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.errors import UsageError
from islands.problems.arguments import (
    FORMS,
    array_of,
    integers,
    items_of,
    read_array,
    require_sum,
)
from islands.text import shown, unknown

LARGEST_SUM = 2**60
"""Limit of sums of whole costs, so that twice the sum fits into 64 bits."""
MOST_REAL = 1e300
"""Limit of sums of real costs, so that multiples are finite."""


def amounts(
    name: str, values: Any, dimensions: int, below: int, *, negative: bool = False
) -> NDArray[np.int64]:
    """Return whole numbers whose absolute values add up to less than `below`; reject others."""
    array = read_array(name, values, dimensions)
    numbers = integers(name, array, below - 1, least=1 - below if negative else 0)
    require_sum(name, numbers, below)
    return numbers


def item_numbers(name: str, values: Any, dimensions: int, count: int) -> NDArray[np.int64]:
    """Return numbers of items from 0 to `count` - 1; reject others."""
    number = "Number them from 0"
    given = array_of(name, values, FORMS[dimensions])
    kind = given.dtype.kind
    if kind == "b" or (kind == "O" and any(isinstance(v, bool | np.bool_) for v in given.flat)):
        raise UsageError(
            f"{name}={shown(values)}: contains booleans instead of item numbers. Write"
            " numpy.flatnonzero(row) for the items of a row that are True"
        )
    array = read_array(name, values if kind == "O" else given, dimensions)
    return integers(name, array, count - 1, fix=number, negative=number, large=number)


def rows_of(name: str, values: Any) -> list[Any]:
    """Return the rows of a list, a tuple or an array, at least one; reject anything else."""
    if not isinstance(values, list | tuple):
        is_ragged = isinstance(values, np.ndarray) and values.dtype.kind == "O" and values.ndim == 1
        values = values if is_ragged else typed_array(name, values, 2)
    rows = items_of(name, values, FORMS[2])
    if not rows:
        raise UsageError(f"{name}: is empty. Pass at least one row")
    return rows


def typed_array(name: str, values: Any, dimensions: int) -> NDArray[Any]:
    """Return an array of numbers or booleans without converting its type; reject others."""
    read_array(name, values, dimensions)
    return array_of(name, values, FORMS[dimensions])


def one_of(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return an argument that is one of several choices; reject anything else."""
    if not isinstance(value, str) or value not in choices:
        raise UsageError(unknown(name, value if isinstance(value, str) else shown(value), choices))
    return value
