"""Quadratic binary problems (QUBO): the cost is a quadratic form of the chosen items."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.calls import is_whole
from islands.errors import UsageError
from islands.instances.sizes import MOST_NODES, require_size
from islands.modelling.kinds import subsets_of
from islands.modelling.texts import Text
from islands.models import messages
from islands.models.base import ReadyModel, function_of
from islands.models.numbers import MOST_REAL
from islands.models.plain import Quadratic
from islands.problems.arguments import element, integers, name_or, read_array, reals, require_sum
from islands.problems.solution_kinds import MOST

_LARGEST = 2**62
"""Limit of sums of whole entries."""


class Qubo(ReadyModel):
    """Find a subset x of n items that minimises x^T Q x.

    `q` is an n x n matrix of numbers: an array, a sparse SciPy matrix, or a dict from pairs
    `(i, j)` of items, from 0 to n - 1, to entries. It need not be symmetric. x has 1 for each
    chosen item. With `maximise`, the value is maximised.

    >>> islands.solve(islands.qubo([[-2, 3], [0, -1]]), generations=20).solution.tolist()
    [1, 0]
    """

    _cost_file, _state_files, _is_cooperative = "qubo", ("qubo_state",), True
    _quadratic = "matrix"

    matrix: Any
    """The sparse matrix of whole or real numbers."""

    def __init__(
        self,
        q: Any,
        *,
        maximise: bool = False,
        name: str | None = None,
        best_known: float | None = None,
    ) -> None:
        from scipy.sparse import csr_array

        self.matrix = numbers = _matrix(q)
        n = numbers.shape[0]
        both = csr_array(numbers + numbers.T)
        both.setdiag(0)
        both.eliminate_zeros()
        both.sort_indices()
        self._pairs = {
            "first": both.indptr.astype(np.int64),
            "other": both.indices.astype(np.int32) if both.nnz else np.zeros(1, np.int32),
            "both": both.data if both.nnz else np.zeros(1, numbers.dtype),
            "diagonal": numbers.diagonal(),
        }
        super().__init__(
            subsets_of(n, self.choose),
            name_or(name, f"qubo-{n}"),
            maximise=maximise,
            best_known=best_known,
        )

    def _text(self, file: str, *before: str) -> Text:
        """Return the code, in which the type of the entries replaces `Number`."""
        text = super()._text(file, *before)
        number = "double" if self.matrix.dtype.kind == "f" else "long long"
        return replace(text, code=text.code.replace("Number", number))

    def data(self) -> dict[str, Any]:
        """Return the diagonal entries, and the sums of the two entries of pairs."""
        return self._pairs

    def exact(self, chosen: NDArray[Any]) -> NDArray[Any]:
        """Return the value of each solution."""
        x = chosen.astype(self.matrix.dtype)
        return np.asarray((x @ self.matrix * x).sum(axis=1))

    def _plain(self) -> Quadratic:
        """Return the quadratic form."""
        first, other, both, diagonal = self._pairs.values()
        return Quadratic.of_neighbours(diagonal, first, other, both, maximise=self.maximise)


qubo = function_of(Qubo, "qubo")


def _matrix(q: Any) -> Any:
    """Return a square sparse matrix of whole or real numbers."""
    from scipy.sparse import coo_array, csr_array, issparse

    if isinstance(q, Mapping):
        pairs = _pairs(q)
        n = int(pairs.max()) + 1
        coords = tuple(pairs.T)
        values = _entries([*q.values()], coords)
    elif issparse(q):
        n = _square(q.shape)
        require_size("q", n, "items", MOST_NODES)  # each has a row in memory
        sparse = coo_array(q)
        coords = sparse.coords
        values = _entries(sparse.data, coords) if sparse.nnz else np.zeros(0, np.int64)
    else:
        dense = _exact(read_array("q", q, 2))
        n = _square(dense.shape)
        coords = np.nonzero(dense)
        values = dense[coords]
    return csr_array(coo_array((values, coords), shape=(n, n)))


def _square(shape: tuple[int, ...]) -> int:
    """Return the size of a matrix; reject one that is not square."""
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] < 1:
        raise UsageError(f"q: has the shape {shape}. Pass a matrix of n rows and n columns")
    return shape[0]


def _pairs(q: Mapping[Any, Any]) -> NDArray[np.int64]:
    """Return the keys of a dict, pairs of items; reject gaps between the numbers of items."""
    for key in q:
        is_pair = isinstance(key, tuple) and len(key) == 2
        if not is_pair or not all(is_whole(i) and 0 <= i < MOST for i in key):
            raise messages.wrong_key(key=key)
    if not q:
        raise UsageError("q: is an empty dict. Write q={(0, 1): 2}")
    pairs = np.array([*q], np.int64)
    items = np.unique(pairs)
    if missing := np.flatnonzero(items != np.arange(len(items))).tolist():
        raise messages.missing_item(last=items[-1], missing=missing[0])
    return pairs


def _entries(values: Any, coords: tuple[NDArray[Any], ...]) -> NDArray[Any]:
    """Return valid entries; errors name their coordinates."""
    entries = read_array("q", values, 1)
    most = MOST_REAL if entries.dtype.kind == "f" else _LARGEST
    wrong = ~((entries >= -most) & (entries <= most))
    for k in np.flatnonzero(wrong)[:1]:
        _exact(entries[k].reshape(()), element("q", tuple(int(indices[k]) for indices in coords)))
    return _exact(entries)


def _exact(entries: NDArray[Any], name: str = "q") -> NDArray[Any]:
    """Return whole numbers as int64, others as float64; reject those whose sum is too large."""
    if entries.dtype.kind == "f":
        numbers = reals(name, entries, MOST_REAL)
        if (numbers % 1 != 0).any() or np.abs(numbers).sum() >= _LARGEST:
            require_sum("q", numbers, MOST_REAL)
            return numbers
    whole = integers(name, entries, _LARGEST, least=-_LARGEST, large="Pass real numbers")
    require_sum("q", whole, _LARGEST, "Pass real numbers")
    return whole
