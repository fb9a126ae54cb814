"""The functions that create user-defined problems, such as `permutation` and `subset`."""

from collections.abc import Sequence
from typing import Unpack

from numpy.typing import ArrayLike

from islands.calls import explained, taking
from islands.modelling.kinds import choices_of, orders_of, size_of, subsets_of, vectors_of
from islands.modelling.model import Model
from islands.modelling.statement import Statement, StatementKeywords
from islands.problems.solution_kinds import KeysKind


@explained
@taking(Statement)
def permutation(
    n: int,
    *,
    before: Sequence[tuple[int, int]] | None = None,
    parts: int | None = None,
    **statement: Unpack[StatementKeywords],
) -> Model:
    """Return a problem whose solutions are orders of the items 0 to n - 1.

    Define the cost of a solution by one of:

    - `cost`: CUDA code, `__device__ long long cost(const Solution& s, int n, const Data& data)` or
      `double`, where `s[i]` is the item at place i. One thread calls it for each solution; with
      `cooperative`, all threads of a block call it together and return the same cost.
    - `batch`: a Python function from an array of solutions, one per row, to their costs. On a GPU
      it receives and returns CuPy arrays.
    - `function`: a Python function from one solution to its cost.

    `data` has arrays and numbers that CUDA code reads as `data.NAME`. `delta` is CUDA code for the
    change in cost due to a move (`Swap`, `Reversal` or `Insertion`), which makes local search fast.
    `state` is CUDA code for a `struct State` that is updated by moves, with `prepare`, `change` and
    `apply`, so that tempering evaluates a move in a few steps; it may also `propose` steps and
    `cross` two solutions. `repair` is CUDA code that may change a solution before it is evaluated.
    Code is a string, or the `pathlib.Path` of a file.

    `violation` returns the amount by which a solution is infeasible, or 0: CUDA code with the
    arguments of `cost`, or a Python function with those of `batch` or `function`. Feasible
    solutions are better than all others. `delta` and `change` then return the changes of both cost
    and violation. `price` is the cost of a unit of violation when infeasible solutions are
    compared: a number, or "adaptive", which begins with an estimate from random solutions.

    `reference` computes the costs of a batch in NumPy, to verify the best solution; with
    `violation`, it returns a pair of costs and violations. `maximise` searches for the highest
    cost. `name` is the name in results; `best_known` is a cost, for gaps and `stop="best-known"`.
    `plot` is a Python function that plots a solution: it receives the solution and Matplotlib axes.

    `before` has pairs of items: the first item of a pair precedes the second in all solutions. With
    `parts`, a solution is divided into this number of orders, which together contain all items:
    entries with values from n on, one fewer than parts, are separators.

    >>> problem = islands.permutation(5, function=lambda order: int(order[0]) + int(order[-1]))
    >>> islands.solve(problem, generations=20).cost
    1
    """
    return Model(orders_of(n, before, parts), Statement(**statement))


@explained
@taking(Statement)
def subset(
    n: int,
    *,
    choose: int | tuple[int, int] | None = None,
    **statement: Unpack[StatementKeywords],
) -> Model:
    """Return a problem whose solutions are subsets of n items: `s[i]` is 1 or 0.

    With `choose`, all solutions have exactly this number of items, or a number in the range that a
    pair gives: searches exchange items, and crossovers are corrected. The other arguments are those
    of `permutation`, except `delta`.

    >>> problem = islands.subset(9, batch=lambda chosen: chosen.sum(axis=1), maximise=True)
    >>> islands.solve(problem, target=9, seconds=9).cost
    9
    """
    return Model(subsets_of(n, choose), Statement(**statement))


@explained
@taking(Statement)
def choices(
    n: int,
    k: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    at_most: ArrayLike | None = None,
    **statement: Unpack[StatementKeywords],
) -> Model:
    """Return a problem whose solutions choose one of k values for each of n items.

    `s[i]` is from 0 to k - 1, or to `k[i]` - 1 if k has a number for each item. Searches change one
    value (`Set`) or exchange those of two items (`Swap`), which are in the same group if `groups`
    has a number for each item, such as the day of each shift. With `delta` or `state`, they also
    open an unused value, or close one by moving its items. At most `at_most` items have the same
    value: a number for all values, or one for each. The other arguments are those of `permutation`.

    >>> problem = islands.choices(5, 3, batch=lambda chosen: (chosen - 1).sum(axis=1))
    >>> islands.solve(problem, generations=20).cost
    -5
    """
    return Model(choices_of(n, k, groups, at_most), Statement(**statement))


@explained
@taking(Statement)
def keys(
    n: int,
    **statement: Unpack[StatementKeywords],
) -> Model:
    """Return a problem whose solutions are n random keys in [0, 1), as `float`.

    The other arguments are those of `permutation`, except `delta`.

    >>> problem = islands.keys(5, batch=lambda keys: (keys > 0.5).sum(axis=1))
    >>> islands.solve(problem, generations=20).cost
    0
    """
    return Model(KeysKind(size_of(n)), Statement(**statement))


@explained
@taking(Statement)
def real(
    low: ArrayLike,
    high: ArrayLike,
    n: int | None = None,
    **statement: Unpack[StatementKeywords],
) -> Model:
    """Return a problem whose solutions are vectors between `low` and `high`, as `double`.

    The bounds are vectors, or numbers for all `n` coordinates. The other arguments are those of
    `permutation`, except `delta`.

    >>> problem = islands.real(-1, 1, 2, batch=lambda vectors: (vectors**2).sum(axis=1))
    >>> islands.solve(problem, generations=50).cost < 0.01
    True
    """
    return Model(vectors_of(low, high, n), Statement(**statement))
