"""Quadratic assignment with the SciPy interface."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import islands
from islands.calls import is_duration
from islands.parallel import world
from islands.scipy import messages
from islands.scipy.evolution import seed_of

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

Matrix = NDArray[np.float64]

_OPTIONS = ("time_limit", "maximize", "rng", "partial_match")
_IGNORED = ("maxiter", "tol", "P0", "shuffle_input", "partial_guess")
"""Options of the SciPy methods that have no effect."""
_SMALL_MATCH = 12
"""Up to this number of nodes, the search ends when it has converged."""
_LEAST_SECONDS = 0.001
_FEWEST_RELAXED = 50
"""Minimum number of nodes for a start solution from SciPy's relaxation."""
_RELAXING, _STEP_SECONDS, _STEP_NODES = 0.3, 0.006, 150
"""Share of the time for the relaxation; seconds of a step with `_STEP_NODES` nodes, which grow with
the cube of the number of nodes."""
_USUAL_EXPONENT = 500
"""Maximum binary exponent of the largest entry of a matrix that is not scaled."""
_LARGEST_ENTRY, _LARGEST_SUM = 2.0**30, 2.0**58
"""Maximum entry of a matrix and maximum cost in the search, where both are integers."""


def quadratic_assignment(
    A: ArrayLike,  # noqa: N803 (the names of SciPy)
    B: ArrayLike,  # noqa: N803
    method: str = "faq",
    options: Mapping[str, Any] | None = None,
) -> OptimizeResult:
    """Match the nodes of two graphs to minimise the sum of products of their weights.

    The arguments are those of `scipy.optimize.quadratic_assignment`. The `options` `maximize`,
    `partial_match` and `rng` have the same meaning; `time_limit` is the time of the call in
    seconds, by default 1; the `method` and its other options have no effect. For many nodes, the
    search begins with a match that `faq` finds in part of the time. The search uses integers: other
    entries are scaled and rounded to about nine digits. `nit` is the number of generations.

    >>> match = islands.scipy.quadratic_assignment([[0, 5], [1, 0]], [[0, 2], [7, 0]])
    >>> match.col_ind.tolist(), float(match.fun)
    ([0, 1], 17.0)
    """
    from scipy.optimize import OptimizeResult

    began = time.perf_counter()
    given = _options(method, options)
    a, b = _square("A", A), _square("B", B)
    if a.shape != b.shape:
        raise ValueError("`A` and `B` matrices must be of equal size")
    _require_sums(a, b)
    match = _match(given.get("partial_match"), len(a))
    drawn = seed_of(given.get("rng", 1))  # on all ranks, so that equal generators stay equal
    seed = world().from_first(lambda: drawn)
    order = np.empty(len(a), np.int64)
    order[match.fixed[:, 0]], order[match.rows] = match.fixed[:, 1], match.columns
    digest, generations = "", 0
    if len(match.rows) > 1:
        end, maximise = began + float(given["time_limit"]), bool(given.get("maximize", False))
        result = _search(_moderate(a), _moderate(b), match, end, seed, maximise=maximise)
        order[match.rows] = match.columns[result.solution]
        digest, generations = result.digest, result.generations
    return OptimizeResult(
        col_ind=order,
        fun=_score(np.atleast_2d(A), np.atleast_2d(B), order),
        nit=generations,
        success=True,
        seed=seed,
        digest=digest,
    )


def _options(method: Any, options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the options with a time limit; reject unknown and invalid ones."""
    given = {"time_limit": 1.0, **(options or {})}
    if unknown := sorted({*given} - {*_OPTIONS, *_IGNORED}):
        raise ValueError(f"Unknown solver options: {', '.join(unknown)}. Known: {_OPTIONS}")
    if not isinstance(method, str) or method.lower() not in ("faq", "2opt"):
        raise ValueError(f"method {method!r} must be in ['faq', '2opt']")
    if not is_duration(given["time_limit"]):
        seconds = given["time_limit"]
        raise ValueError(f"`time_limit` must be a positive number of seconds: {seconds!r}")
    return given


def _search(
    a: Matrix, b: Matrix, match: _Match, end: float, seed: int, *, maximise: bool
) -> islands.Result:
    """Search for a match of the free nodes until `end`."""
    start = world().from_first(lambda: _relaxed(a, b, match, end, maximise=maximise))
    problem = _assignment(a, b, match, maximise=maximise)
    stop = ["converged"] if len(match.rows) <= _SMALL_MATCH else []
    # All ranks have the same limit.
    left = world().from_first(lambda: end - time.perf_counter())
    stop.append(f"seconds={max(left, _LEAST_SECONDS)}")
    settings: dict[str, Any] = {} if start is None else {"start": [start]}
    return islands.solve(problem, stop=stop, seed=seed, **settings)


def _square(name: str, matrix: ArrayLike) -> Matrix:
    """Return an argument as a square matrix of finite numbers; reject others."""
    if np.iscomplexobj(matrix):
        raise ValueError(f"`{name}` must have real entries")
    try:
        array: Matrix = np.atleast_2d(np.asarray(matrix, float))
    except OverflowError:  # a large Python integer
        raise ValueError(f"`{name}` must have finite entries") from None
    if array.shape[0] != array.shape[1]:
        raise ValueError(f"`{name}` must be square")
    if array.ndim != 2:
        raise ValueError("`A` and `B` must have exactly two dimensions")
    if not np.isfinite(array).all():
        raise ValueError(f"`{name}` must have finite entries")
    return array


def _require_sums(a: Matrix, b: Matrix) -> None:
    """Reject matrices whose sum of products may not be finite."""
    largest_a, largest_b = (float(np.abs(m).max(initial=0.0)) for m in (a, b))
    if not largest_a * largest_b * a.size < math.inf:
        raise messages.too_large_entries(a=largest_a, b=largest_b)


def _moderate(matrix: Matrix) -> Matrix:
    """Return a matrix, multiplied by a power of two if its entries are extreme.

    Differences of entries are then finite and exact.
    """
    exponent = int(np.frexp(np.abs(matrix).max(initial=0.0))[1])
    scaled: Matrix = np.ldexp(matrix, -exponent)
    return matrix if abs(exponent) <= _USUAL_EXPONENT else scaled


def _score(a: NDArray[Any], b: NDArray[Any], order: NDArray[np.int64]) -> Any:
    """Return the sum of products, exactly if all entries are whole numbers."""
    b = b[np.ix_(order, order)]
    if a.size == 0 or a.dtype.kind not in "biu" or b.dtype.kind not in "biu":
        return (a.astype(float) * b.astype(float)).sum()
    largest = [max(-int(m.min()), int(m.max())) for m in (a, b)]
    kind: Any = np.int64 if largest[0] * largest[1] * a.size < 2**63 else object
    return (a.astype(kind) * b.astype(kind)).sum()


def _relaxed(
    a: Matrix, b: Matrix, match: _Match, end: float, *, maximise: bool
) -> NDArray[np.int64] | None:
    """Return a match from SciPy's relaxation, in part of the time; None for few nodes.

    With many nodes, a search takes a long time to find a match of equal quality.
    """
    from scipy.optimize import quadratic_assignment as by_scipy

    n, left = len(match.rows), end - time.perf_counter()
    steps = int(_RELAXING * left / (_STEP_SECONDS * (len(a) / _STEP_NODES) ** 3))
    if n < _FEWEST_RELAXED or steps < 1:
        return None
    options = {"maximize": maximise, "partial_match": match.fixed, "maxiter": min(steps, 30)}
    matched = by_scipy(a, b, method="faq", options=options).col_ind
    places: NDArray[np.int64] = np.searchsorted(match.columns, matched[match.rows])
    return places


@dataclass(frozen=True)
class _Match:
    """The pairs of nodes that are fixed, and the other nodes of both graphs."""

    fixed: NDArray[np.int64]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]


def _match(pairs: Any, n: int) -> _Match:
    """Return the fixed pairs and free nodes; reject invalid pairs as SciPy does."""
    fixed: NDArray[Any] = np.atleast_2d(np.asarray([] if pairs is None else pairs))
    if fixed.size == 0:
        fixed = np.zeros((0, 2))
    wrong = None
    if len(fixed) > n:
        wrong = "can have only as many seeds as there are nodes"
    elif fixed.shape[1] != 2:
        wrong = "must have two columns"
    elif fixed.ndim != 2:
        wrong = "must have exactly two dimensions"
    elif fixed.dtype.kind not in "iuf" or (fixed % 1 != 0).any():
        wrong = "must contain only whole numbers"
    elif (fixed < 0).any():
        wrong = "must contain only positive indices"
    elif (fixed >= n).any():
        wrong = "entries must be less than number of nodes"
    elif any(len(np.unique(column)) < len(column) for column in fixed.T):
        wrong = "column entries must be unique"
    if wrong is not None:
        raise ValueError(f"`partial_match` {wrong}")
    fixed = fixed.astype(np.int64)
    rows, columns = (np.setdiff1d(np.arange(n), column) for column in fixed.T)
    return _Match(fixed, rows, columns)


def _assignment(a: Matrix, b: Matrix, match: _Match, *, maximise: bool) -> Any:
    """Return the problem of the free nodes, with non-negative integers.

    Adding a constant to a matrix adds a constant to all costs. Products with fixed nodes are linear
    costs.
    """
    a = a - a.min()
    b = b.max() - b if maximise else b - b.min()
    n, has_fixed = len(a), len(match.fixed) > 0
    most = _LARGEST_ENTRY / (2 * n) if has_fixed else _LARGEST_SUM / n**2
    is_whole = [bool((m == np.round(m)).all()) for m in (a, b)]
    fits = max(a.max(), b.max()) <= _LARGEST_ENTRY and a.max() * b.max() <= most
    if not (all(is_whole) and fits):
        # A matrix of small integers is unchanged; the other one gets the remaining digits.
        size = min(_LARGEST_ENTRY, most**0.5)
        sizes = [
            m.max() if whole and m.max() <= size else size
            for whole, m in zip(is_whole, (a, b), strict=True)
        ]
        others = [min(_LARGEST_ENTRY, most / max(largest, 1.0)) for largest in sizes[::-1]]
        is_kept = [largest < size for largest in sizes]
        a, b = (
            m if kept else m * (other / max(m.max(), 1e-300))
            for m, kept, other in zip((a, b), is_kept, others, strict=True)
        )
    a, b = np.rint(a), np.rint(b)
    rows, columns = match.rows, match.columns
    linear = None
    if has_fixed:
        at, to = match.fixed.T
        linear = a[np.ix_(rows, at)] @ b[np.ix_(columns, to)].T
        linear += a[np.ix_(at, rows)].T @ b[np.ix_(to, columns)]
    return islands.qap(a[np.ix_(rows, rows)], b[np.ix_(columns, columns)], linear=linear)
