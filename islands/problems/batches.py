"""Many problems from arrays with an additional dimension, each created when it is needed."""

from collections.abc import Callable, Iterable, Sequence
from io import IOBase
from pathlib import Path
from typing import Any, overload

from numpy.typing import NDArray

from islands.calls import explained
from islands.errors import UsageError
from islands.problems import messages
from islands.problems.arguments import FORMS, array_of, items_of
from islands.problems.base import Problem
from islands.problems.data import mkp, qap, tsp
from islands.text import shown

_FORM = "a list of arrays, one for each problem"


class Batch(Sequence[Problem]):
    """Problems created from parts of arrays; only the arrays are kept in memory."""

    def __init__(self, count: int, create: Callable[[int], Problem]) -> None:
        self._count, self._create = count, create

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Problem: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Problem]: ...

    def __getitem__(self, index: int | slice) -> Problem | Sequence[Problem]:
        chosen = range(self._count)[index]
        if isinstance(chosen, range):
            return Batch(len(chosen), lambda place: self._create(chosen[place]))
        return self._create(chosen)


@explained
def tsp_batch(
    coordinates: Any = None, metric: str | None = None, *, distances: Any = None
) -> Batch:
    """Return many travelling salesman problems; see `tsp`.

    `coordinates` has the shape (B, n, 2), `distances` (B, n, n); a list may have arrays of
    different sizes.

    >>> len(islands.tsp_batch(np.zeros((5, 12, 2))))
    5
    """
    if (coordinates is None) == (distances is None):
        raise messages.not_one_of_both(call="tsp_batch", plural="matrices", coordinates=coordinates)
    if distances is not None:
        matrices = _parts("distances", distances, 2)
        return Batch(len(matrices), lambda i: tsp(metric=metric, distances=matrices[i]))
    places = _parts("coordinates", coordinates, 2)
    return Batch(len(places), lambda i: tsp(places[i], metric))


@explained
def qap_batch(flows: Any, distances: Any) -> Batch:
    """Return many quadratic assignment problems; see `qap`.

    Both arrays have the shape (B, n, n); one may be (n, n) for the same matrix in all problems.

    >>> len(islands.qap_batch(np.ones((5, 8, 8), int), np.ones((8, 8), int)))
    5
    """
    return _batch(qap, {"flows": (flows, 2), "distances": (distances, 2)})


@explained
def mkp_batch(profits: Any, weights: Any, capacities: Any) -> Batch:
    """Return many multidimensional knapsack problems; see `mkp`.

    `profits` has the shape (B, n), `weights` (B, m, n), `capacities` (B, m); the first dimension
    may be omitted for data that all problems share.

    >>> len(islands.mkp_batch([6, 5, 9], [[2, 3, 4]], [[5], [6], [7]]))
    3
    """
    data = {"profits": (profits, 1), "weights": (weights, 2), "capacities": (capacities, 1)}
    return _batch(mkp, data)


def as_problems(problems: Any) -> Iterable[Any]:
    """Return an iterable of problems; an array is passed to `tsp_batch`."""
    if isinstance(problems, str | Path | Problem):
        raise messages.single_problem(problem=problems)
    if not hasattr(problems, "__array__"):
        if isinstance(problems, IOBase):
            raise messages.open_file(file=problems)
        return _iterable(problems)
    array = array_of("problems", problems, "a list of problems")
    if array.ndim == 3 and array.shape[2] == 2:
        return tsp_batch(array)
    if array.ndim == 3 and array.shape[1] == array.shape[2]:
        return tsp_batch(distances=array)
    raise messages.not_a_batch_of_tours(shape=array.shape)


def _iterable(problems: Any) -> Iterable[Any]:
    try:
        iter(problems)
    except Exception:  # arbitrary objects may raise any error
        raise UsageError(
            f"problems={shown(problems)}: cannot be iterated. Pass a list of problems, or an array"
            " of the shape (B, n, 2)"
        ) from None
    return problems  # type: ignore[no-any-return]


def _parts(name: str, values: Any, dimensions: int) -> Sequence[NDArray[Any]]:
    """Return the data of each problem: the parts of an array or the items of a list."""
    if not hasattr(values, "__array__"):
        return [
            array_of(f"{name}[{place}]", part, FORMS[dimensions])
            for place, part in enumerate(items_of(name, values, _FORM))
        ]
    array = array_of(name, values, _FORM)
    if array.ndim != dimensions + 1:
        raise UsageError(
            f"{name}: has the shape {array.shape}, must have {dimensions + 1} dimensions, the first"
            f" for the problems. Write {name}[numpy.newaxis] for a single one"
        )
    return array  # type: ignore[return-value]


def _batch(create: Callable[..., Problem], data: dict[str, tuple[Any, int]]) -> Batch:
    """Return problems, given each argument and the number of its dimensions for one problem.

    Arrays with this number of dimensions are shared by all problems.
    """
    arrays, counts = dict[str, NDArray[Any]](), dict[str, int]()
    for name, (values, dimensions) in data.items():
        arrays[name] = array_of(name, values, _FORM)
        if arrays[name].ndim != dimensions:
            counts[name] = len(_parts(name, arrays[name], dimensions))
    if not counts:
        raise UsageError(
            f"{', '.join(data)}: are the data of a single problem. Add a first dimension to one of"
            " them, or write islands.solve"
        )
    if len({*counts.values()}) > 1:
        given = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise UsageError(f"different numbers of problems: {given}. Pass arrays of equal length")

    def problem(index: int) -> Problem:
        return create(*(a[index] if name in counts else a for name, a in arrays.items()))

    return Batch(next(iter(counts.values())), problem)
