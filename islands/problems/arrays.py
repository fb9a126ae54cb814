"""Read array-like data from a user's script; an error names the argument, the value and the fix."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.errors import UsageError
from islands.text import counted, one_line, shown

_CORRECT = "Correct it"
_FIX = "Multiply all of them by a power of ten, or round them"
_FORMS = {1: "a list of numbers", 2: "a list of rows of numbers of equal length"}
_EXAMPLES = {1: "[3, 5, 2]", 2: "[[3, 5, 2]] for one row"}


def read_array(name: str, values: Any, dimensions: int) -> NDArray[Any]:
    """Return a copy of the values as an array of numbers; refuse other dimensions and types."""
    try:
        array = np.array(values)
    except Exception as error:  # any array-like object may raise any error
        raise UsageError(
            f"{name}={shown(values)}: cannot become a NumPy array"
            f" ({one_line(str(error), 200)}). Pass {_FORMS[dimensions]}, or a NumPy array"
        ) from error
    if array.dtype.kind == "O":
        array = _converted(name, array)
    if array.dtype.kind not in "biuf":
        raise UsageError(
            f"{name}={shown(values)}: contains values of the type {array.dtype}, must be numbers."
            f" Pass {_FORMS[dimensions]}"
        )
    if array.ndim != dimensions:
        raise UsageError(
            f"{name}: has {counted(array.ndim, 'dimension')}, must have {dimensions}."
            f" Pass {_FORMS[dimensions]}, such as {_EXAMPLES[dimensions]}"
        )
    if array.size == 0:
        raise UsageError(f"{name}: is empty, with the shape {array.shape}. Pass at least one value")
    return array.astype(np.uint8) if array.dtype.kind == "b" else array


def integers(
    name: str, array: NDArray[Any], largest: int, *, fix: str = _FIX, negative: str = _CORRECT
) -> NDArray[np.int64]:
    """Return the numbers as integers; refuse others than whole numbers from 0 to `largest`.

    `fix` is the hint for numbers with decimals, `negative` that for negative numbers.
    """
    with np.errstate(invalid="ignore"):
        wrong = ~((array >= 0) & (array <= largest))
        if array.dtype.kind == "f":
            wrong |= array != np.floor(array)
    if wrong.any():
        place = _first(wrong)
        value = array[place]
        if math.isfinite(value) and value != math.floor(value):
            hint = fix
        elif 0 <= value < math.inf:
            hint = "Divide all of them by a common factor"
        else:
            hint = negative if math.isfinite(value) else _CORRECT
        raise UsageError(
            f"{element(name, place)} = {value}: must be a whole number from 0 to {largest}. {hint}"
        )
    return array.astype(np.int64)


def reals(name: str, array: NDArray[Any], largest: float) -> NDArray[np.float64]:
    """Return the numbers as real numbers; refuse others than from -`largest` to `largest`."""
    wrong = ~((array >= -largest) & (array <= largest))
    if wrong.any():
        place = _first(wrong)
        raise UsageError(
            f"{element(name, place)} = {array[place]}: must be a number from {-largest:g} to"
            f" {largest:g}. Correct it"
        )
    return array.astype(np.float64)


def read_number(name: str, value: Any) -> float | None:
    """Return a finite number, an integer if it has no decimals, or None; refuse other values."""
    if value is None:
        return None
    is_number = isinstance(value, int | float | np.integer | np.floating)
    if not is_number or isinstance(value, bool) or not is_finite(value):
        raise UsageError(f"{name}={shown(value)}: must be a number. Leave it out if it is unknown")
    return int(value) if value == int(value) else float(value)


def is_finite(value: Any) -> bool:
    """Return whether a number is finite, and an integer not beyond all doubles."""
    return bool(abs(value) <= sys.float_info.max)


def require_shape(name: str, array: NDArray[Any], shape: tuple[int, ...], reason: str) -> None:
    """Refuse an array of another shape; `reason` says where the sizes come from."""
    if array.shape != shape:
        raise UsageError(f"{name}: has the shape {array.shape}, must be {shape}: {reason}")


def element(name: str, place: tuple[int, ...]) -> str:
    """Return an element of an array as Python writes it, such as `flows[2, 3]`."""
    return f"{name}[{', '.join(map(str, place))}]"


def _converted(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of Python objects, such as large integers, as numbers."""
    for place in np.ndindex(array.shape):
        try:
            float(array[place])
        except (TypeError, ValueError, OverflowError):
            raise UsageError(
                f"{element(name, place)} = {shown(array[place])}: must be a number. Correct it"
            ) from None
    try:
        return array.astype(np.int64) if _are_integers(array) else array.astype(np.float64)
    except OverflowError:
        return array.astype(np.float64)


def _are_integers(array: NDArray[Any]) -> bool:
    return all(isinstance(each, int | np.integer) for each in array.flat)


def _first(wrong: NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the index of the first true element."""
    return tuple(int(each) for each in np.unravel_index(int(wrong.argmax()), wrong.shape))
