"""Validation of arguments: arrays, numbers and names, with errors that name the element."""

import math
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.errors import UsageError
from islands.instances import qaplib
from islands.instances.catalogue import BestKnown
from islands.instances.sizes import require_size
from islands.problems import messages
from islands.text import counted, one_line, shown

_CORRECT = "Correct it"
_EXACT = 2**53  # doubles represent all whole numbers below this
_DIVIDE = "Divide all of them by a common factor"
_FIX = "Multiply all of them by a power of ten, or round them"
FORMS = {1: "a list of numbers", 2: "a list of rows of numbers of equal length"}
"""Descriptions of arrays with one and two dimensions, for messages."""
_EXAMPLES = {1: "[3, 5, 2]", 2: "[[3, 5, 2]] for one row"}


def read_array(name: str, values: Any, dimensions: int) -> NDArray[Any]:
    """Return a copy of the values as an array of numbers; reject other dimensions and types."""
    array = numbers_of(name, values, FORMS[dimensions])
    if array.ndim != dimensions:
        raise UsageError(
            f"{name}: has {counted(array.ndim, 'dimension')}, must have {dimensions}."
            f" Pass {FORMS[dimensions]}, such as {_EXAMPLES[dimensions]}"
        )
    if array.size == 0:
        raise UsageError(f"{name}: is empty, with the shape {array.shape}. Pass at least one value")
    return array


def read_matrix(name: str, values: Any) -> NDArray[Any]:
    """Return a matrix as `read_array` does, or from a sparse SciPy matrix.

    Duplicate entries of a sparse matrix are added.
    """
    if is_sparse(values):
        for size, noun in zip(values.shape, ("rows", "columns"), strict=False):
            require_size(name, size, noun, qaplib.LARGEST)
        values = _dense(name, values)
    return read_array(name, values, 2)


def is_sparse(values: Any) -> bool:
    """Return whether the values are a sparse SciPy matrix."""
    return hasattr(values, "toarray") and hasattr(values, "nnz")


def _dense(name: str, sparse: Any) -> NDArray[Any]:
    """Return a sparse matrix as an array; unlike in SciPy, sums of integers do not overflow."""
    if sparse.dtype.kind not in "iu":
        return array_of(name, sparse.toarray(), FORMS[2])
    sums = array_of(name, sparse.astype(np.float64).toarray(), FORMS[2])
    return sums.astype(np.int64) if np.abs(sums).max(initial=0) < _EXACT else sums


def numbers_of(name: str, values: Any, form: str) -> NDArray[Any]:
    """Return a copy of the values as an array of numbers; reject other types and masked values.

    `form` is the expected form, for messages.
    """
    array = array_of(name, values, form)
    if array.dtype.kind == "O":
        array = _converted(name, array)
    if array.dtype.kind not in "biuf":
        raise UsageError(
            f"{name}={shown(values)}: contains values of the type {array.dtype}, must be numbers."
            f" Pass {form}"
        )
    with np.errstate(over="ignore"):  # the largest numbers of a longer type become infinite
        return array.astype({"b": np.uint8, "f": np.float64}.get(array.dtype.kind, array.dtype))


def array_of(name: str, values: Any, form: str) -> NDArray[Any]:
    """Return the values as an array of any type, not copied; reject strings and masked values."""
    if form == FORMS[2] and isinstance(values, str | Path):
        raise messages.path_instead_of_matrix(name=name, path=str(values), form=form)
    try:
        array = None if _is_masked(values) else np.asarray(values)
    except Exception as error:  # arbitrary array-like objects may raise any error
        raise messages.not_an_array(name=name, values=values, form=form, error=error) from error
    if array is None:
        raise messages.masked_values(name=name)
    return array


def items_of(name: str, values: Any, form: str) -> list[Any]:
    """Return the items of an iterable; reject anything else."""
    try:
        return [*values]
    except Exception as error:  # arbitrary objects may raise any error
        raise UsageError(
            f"{name}={shown(values)}: cannot be iterated ({one_line(str(error), 200)}). Pass {form}"
        ) from error


def integers(
    name: str,
    array: NDArray[Any],
    largest: int,
    *,
    least: int = 0,
    fix: str = _FIX,
    negative: str = _CORRECT,
    large: str = _DIVIDE,
) -> NDArray[np.int64]:
    """Return the numbers as integers; all must be whole numbers from `least` to `largest`.

    `fix`, `negative` and `large` are the hints for decimals, negative and large numbers.
    """
    with np.errstate(invalid="ignore"):
        wrong = ~((array >= least) & (array <= largest))
        if array.dtype.kind == "f":
            wrong |= array != np.floor(array)
    if wrong.any():
        place = first_true(wrong)
        value = array[place]
        if math.isfinite(value) and value != math.floor(value):
            hint = fix
        elif least <= value < math.inf:
            hint = large
        else:
            hint = negative if math.isfinite(value) else _CORRECT
        raise UsageError(
            f"{element(name, place)} = {value}: must be a whole number from {least} to {largest}."
            f" {hint}"
        )
    return array.astype(np.int64)


def reals(name: str, array: NDArray[Any], largest: float) -> NDArray[np.float64]:
    """Return the numbers as real numbers; reject absolute values above `largest`."""
    wrong = ~((array >= -largest) & (array <= largest))
    if wrong.any():
        place = first_true(wrong)
        raise UsageError(
            f"{element(name, place)} = {array[place]}: must be a number from {-largest:g} to"
            f" {largest:g}. Correct it"
        )
    return array.astype(np.float64)


def require_sum(name: str, numbers: NDArray[Any], limit: float, fix: str = _DIVIDE) -> None:
    """Reject numbers whose absolute values add up to the limit or more."""
    if np.abs(numbers.astype(np.float64)).sum() < limit / 2:
        return  # the exact sum is slower
    total = sum(map(abs, numbers.reshape(-1).tolist()))
    if not total < limit:
        raise UsageError(
            f"{name}: the sum is {total}, but only sums below {limit} are exact. {fix}"
        )


def read_number(name: str, value: Any) -> float | None:
    """Return a finite number, as an integer if it has no decimals, or None; reject other values."""
    if value is None:
        return None
    is_number = isinstance(value, int | float | np.integer | np.floating)
    if not is_number or isinstance(value, bool) or not is_finite(value):
        raise UsageError(f"{name}={shown(value)}: must be a number. Leave it out if it is unknown")
    return int(value) if value == int(value) else float(value)


def is_finite(value: Any) -> bool:
    """Return whether a number is finite, and not an integer beyond the range of doubles."""
    try:
        return math.isfinite(value) and not isinstance(value, np.timedelta64)
    except (TypeError, ValueError, OverflowError):
        return False


def require_shape(name: str, array: NDArray[Any], shape: tuple[int, ...], reason: str) -> None:
    """Reject an array of another shape; `reason` explains the expected sizes."""
    if array.shape != shape:
        raise UsageError(f"{name}: has the shape {array.shape}, must be {shape}: {reason}")


def element(name: str, place: tuple[int, ...]) -> str:
    """Return the name of an array element in Python notation, such as `flows[2, 3]`."""
    return f"{name}[{', '.join(map(str, place))}]" if place else name


def _is_masked(values: Any, depth: int = 3) -> bool:
    """Return whether an array, also in nested lists, has masked values."""
    if isinstance(values, np.ma.MaskedArray):
        return bool(np.ma.is_masked(values))
    if not isinstance(values, list | tuple) or depth == 0:
        return False
    parts = [part for part in values if isinstance(part, list | tuple | np.ma.MaskedArray)]
    return any(_is_masked(part, depth - 1) for part in parts)


def _converted(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of Python objects, such as large integers, as numbers."""
    for place in np.ndindex(array.shape):
        try:
            if isinstance(array[place], str | bytes | bytearray):
                raise TypeError
            float(array[place])
        except (TypeError, ValueError, OverflowError):
            where, value = element(name, place), array[place]
            what = "a number. Correct it"
            if isinstance(value, Set | Iterator):
                what = f"a list or an array. Write [*{where}]"
            raise UsageError(f"{where} = {shown(value)}: must be {what}") from None
    are_integers = all(isinstance(value, int | np.integer) for value in array.flat)
    try:
        return array.astype(np.int64 if are_integers else np.float64)
    except OverflowError:
        return array.astype(np.float64)


def first_true(wrong: NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the index of the first true element."""
    return tuple(int(index) for index in np.unravel_index(int(wrong.argmax()), wrong.shape))


def name_or(name: Any, usual: str) -> str:
    """Return the name of a problem, or the default."""
    if name is None:
        return usual
    if not isinstance(name, str) or not name:
        raise UsageError(f"name={shown(name)}: must be a string. Leave it out to call it {usual!r}")
    return name


def best_known_of(value: Any) -> BestKnown | None:
    """Return the argument `best_known`, if given."""
    number = read_number("best_known", value)
    return None if number is None else BestKnown(number, "best_known", "the script")
