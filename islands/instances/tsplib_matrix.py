"""Read the EDGE_WEIGHT_SECTION of TSPLIB files: a symmetric matrix, full or triangular."""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

from islands.errors import InputError
from islands.instances.lines import Lines, shown
from islands.instances.tsplib_coordinates import begins_another, check_fits
from islands.text import unknown

LARGEST = 20_000
"""Maximum number of cities; their matrix takes 1.6 GB."""

_WEIGHT_MAX = 2**31 - 1

# By symmetry the columns of one triangle are the rows of the other.
_TRIANGLES = {
    "UPPER_ROW": ("upper", 1),
    "LOWER_ROW": ("lower", 1),
    "UPPER_DIAG_ROW": ("upper", 0),
    "LOWER_DIAG_ROW": ("lower", 0),
    "UPPER_COL": ("lower", 1),
    "LOWER_COL": ("upper", 1),
    "UPPER_DIAG_COL": ("lower", 0),
    "LOWER_DIAG_COL": ("upper", 0),
}
FORMATS = ("FULL_MATRIX", *_TRIANGLES)


def read_matrix(lines: Lines, form: str | None, n: int) -> NDArray[np.int32]:
    """Return the matrix of the section that begins on the next line; its diagonal is 0."""
    if form is None:
        raise lines.error(f"EDGE_WEIGHT_FORMAT is missing. Give one of {', '.join(FORMATS)}")
    if form not in FORMATS:
        raise lines.error(unknown("EDGE_WEIGHT_FORMAT", form, FORMATS))
    if n > LARGEST:
        raise lines.error(
            f"DIMENSION {n}: explicit weights are read for at most {LARGEST} cities, "
            "since the matrix must fit in memory. Give coordinates instead"
        )
    if form == "FULL_MATRIX":
        matrix = _read_weights(lines, n * n, n).reshape(n, n)
        _check_symmetry(lines, matrix)
    else:
        matrix = _read_triangle(lines, *_TRIANGLES[form], n)
    # Some files contain large numbers on the diagonal, which no tour uses.
    np.fill_diagonal(matrix, 0)
    return matrix


def _read_triangle(lines: Lines, side: str, offset: int, n: int) -> NDArray[np.int32]:
    weights = _read_weights(lines, n * (n + 1) // 2 - offset * n, n)
    matrix = np.zeros((n, n), np.int32)
    start = 0
    for row in range(n):
        columns = slice(row + offset, n) if side == "upper" else slice(0, row + 1 - offset)
        stop = start + max(0, columns.stop - columns.start)
        matrix[row, columns] = matrix[columns, row] = weights[start:stop]
        start = stop
    return matrix


def _read_weights(lines: Lines, count: int, n: int) -> NDArray[np.int32]:
    check_fits(lines, n, 2 * count)
    lines.allow(count)
    weights = array("i")
    while len(weights) < count:
        words = lines.words()
        if words is None or any(map(begins_another, words)):
            raise lines.error(
                f"the weights end after {len(weights)} of the {count} that DIMENSION {n} requires. "
                "Complete them, or correct DIMENSION or EDGE_WEIGHT_FORMAT"
            )
        weights.extend(_weight(lines, word) for word in words)
    if len(weights) > count:
        raise lines.error(
            f"more weights than the {count} that DIMENSION {n} requires. "
            "Remove them, or correct DIMENSION or EDGE_WEIGHT_FORMAT"
        )
    return np.frombuffer(weights, np.int32)


def _weight(lines: Lines, word: bytes) -> int:
    try:
        weight = int(word) if word.isdigit() else float(word)
    except ValueError:
        weight = -1
    if not 0 <= weight <= _WEIGHT_MAX or weight != int(weight) or b"_" in word:
        raise _weight_error(lines, word)
    return int(weight)


def _weight_error(lines: Lines, word: bytes) -> InputError:
    hint = "Correct it; scaling or shifting all weights does not change the best tour"
    return lines.error(
        f"weight {shown(word)} is not a whole number from 0 to {_WEIGHT_MAX}. {hint}"
    )


def _check_symmetry(lines: Lines, matrix: NDArray[np.int32]) -> None:
    for row in range(len(matrix)):
        different = np.flatnonzero(matrix[row, :row] != matrix[:row, row])
        if different.size:
            column = int(different[0])
            raise lines.error(
                f"weight({column + 1},{row + 1}) = {matrix[column, row]} but weight({row + 1},"
                f"{column + 1}) = {matrix[row, column]}. Only symmetric instances are read: "
                "make the matrix symmetric"
            )
