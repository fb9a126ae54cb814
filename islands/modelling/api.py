"""The functions that make a problem of one's own: `permutation`, `subset`, `keys` and `real`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from numpy.typing import ArrayLike

from islands.calls import explained, taking
from islands.modelling.kinds import box_of, chosen_of, keys_of, order_of
from islands.modelling.model import Model
from islands.modelling.statement import Statement, StatementKeywords


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

    State what a solution costs by one of:

    - `cost`: CUDA code, `__device__ long long cost(const Solution& s, int n, const Data& data)` or
      `double`, in which `s[i]` is the item at place i. One thread calls it for each solution; with
      `cooperative`, all threads of a block call it together and return the same cost.
    - `batch`: a Python function from an array of solutions, one per row, to their costs. On a GPU
      it receives and returns CuPy arrays.
    - `function`: a Python function from one solution to its cost.

    `data` are arrays and numbers that CUDA code reads as `data.NAME`. `delta` is CUDA code for the
    change of the cost by a move (`Swap`, `Reversal` or `Insertion`), which makes local search fast.
    `state` is CUDA code for a `struct State` that follows the moves of a solution, with `prepare`,
    `change` and `apply`, so that tempering judges a move in a few steps; it may also `propose`
    steps of its own, and `cross` two solutions. `repair` is CUDA code that may change a solution
    before it is evaluated. `violation` says by how much a solution is infeasible, 0 if it is not:
    CUDA code with the arguments of `cost`, or a Python function with those of `batch` or
    `function`. Feasible solutions are better than all others; `delta` and `change` then return the
    changes of both. `price` is what a unit of the violation costs where infeasible solutions are
    compared: a number, or "adaptive", from random solutions at first.
    `reference` computes the costs of a batch in NumPy, with `violation` a pair of costs and
    violations; the best solution is checked with it. `maximise` looks for the highest cost. `name`
    is the name in results; `best_known` is a cost, for gaps and `stop="best-known"`. `plot` is a
    Python function that draws a solution: it receives the solution and Matplotlib axes.

    `before` are pairs of items, the first of which comes before the second in all solutions. With
    `parts`, solutions are that many orders that have all items together: entries from n on, one
    less than parts, separate them.

    >>> problem = islands.permutation(5, function=lambda order: int(order[0]) + int(order[-1]))
    >>> islands.solve(problem, generations=20).cost
    1
    """
    return Model(order_of(n, before, parts), Statement(**statement))


@explained
@taking(Statement)
def subset(
    n: int,
    *,
    choose: int | tuple[int, int] | None = None,
    **statement: Unpack[StatementKeywords],
) -> Model:
    """Return a problem whose solutions are subsets of n items: `s[i]` is 1 or 0.

    With `choose`, exactly this number of items is chosen, in all solutions, or from the first to
    the second number of a pair: searches exchange items, and crossovers are corrected. The other
    arguments are those of `permutation`, except `delta`.

    >>> problem = islands.subset(9, batch=lambda chosen: chosen.sum(axis=1), maximise=True)
    >>> islands.solve(problem, target=9, seconds=9).cost
    9
    """
    return Model(chosen_of(n, choose), Statement(**statement))


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
    return Model(keys_of(n), Statement(**statement))


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
    return Model(box_of(low, high, n), Statement(**statement))
