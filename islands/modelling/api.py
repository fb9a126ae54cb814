"""The functions that make a problem of one's own: `permutation`, `subset`, `keys` and `real`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal

from numpy.typing import ArrayLike

from islands.calls import explained
from islands.errors import UsageError
from islands.instances.catalogue import BestKnown
from islands.modelling.functions import Function, PythonCosts, UserFunction
from islands.modelling.header import Functions, Text
from islands.modelling.kinds import box_of, chosen_of, flag, order_of, size_of
from islands.modelling.members import members_of
from islands.modelling.model import Model
from islands.problems.data import is_finite, name_or
from islands.problems.solution_kinds import ITEMS, KeyVectors, Order, SolutionKind
from islands.text import shown

Code = str | Path
Price = float | Literal["adaptive"]


@explained
def permutation(
    n: int,
    *,
    before: Sequence[tuple[int, int]] | None = None,
    parts: int | None = None,
    cost: Code | None = None,
    batch: Function | None = None,
    function: Function | None = None,
    data: Mapping[str, Any] | None = None,
    cooperative: bool = False,
    delta: Code | None = None,
    state: Code | None = None,
    repair: Code | None = None,
    violation: Code | Function | None = None,
    price: Price = "adaptive",
    reference: Function | None = None,
    maximise: bool = False,
    name: str | None = None,
    best_known: float | None = None,
    plot: Function | None = None,
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
    return _model(order_of(n, before, parts), locals())


@explained
def subset(
    n: int,
    *,
    choose: int | tuple[int, int] | None = None,
    cost: Code | None = None,
    batch: Function | None = None,
    function: Function | None = None,
    data: Mapping[str, Any] | None = None,
    cooperative: bool = False,
    delta: Code | None = None,
    state: Code | None = None,
    repair: Code | None = None,
    violation: Code | Function | None = None,
    price: Price = "adaptive",
    reference: Function | None = None,
    maximise: bool = False,
    name: str | None = None,
    best_known: float | None = None,
    plot: Function | None = None,
) -> Model:
    """Return a problem whose solutions are subsets of n items: `s[i]` is 1 or 0.

    With `choose`, exactly this number of items is chosen, in all solutions, or from the first to
    the second number of a pair: searches exchange items, and crossovers are corrected. The other
    arguments are those of `permutation`, except `delta`.

    >>> problem = islands.subset(9, batch=lambda chosen: chosen.sum(axis=1), maximise=True)
    >>> islands.solve(problem, target=9, seconds=9).cost
    9
    """
    return _model(chosen_of(n, choose), locals())


@explained
def keys(
    n: int,
    *,
    cost: Code | None = None,
    batch: Function | None = None,
    function: Function | None = None,
    data: Mapping[str, Any] | None = None,
    cooperative: bool = False,
    delta: Code | None = None,
    state: Code | None = None,
    repair: Code | None = None,
    violation: Code | Function | None = None,
    price: Price = "adaptive",
    reference: Function | None = None,
    maximise: bool = False,
    name: str | None = None,
    best_known: float | None = None,
    plot: Function | None = None,
) -> Model:
    """Return a problem whose solutions are n random keys in [0, 1), as `float`.

    The other arguments are those of `permutation`, except `delta`.

    >>> problem = islands.keys(5, batch=lambda keys: (keys > 0.5).sum(axis=1))
    >>> islands.solve(problem, generations=20).cost
    0
    """
    return _model(KeyVectors(size_of(n)), locals())


@explained
def real(
    low: ArrayLike,
    high: ArrayLike,
    n: int | None = None,
    *,
    cost: Code | None = None,
    batch: Function | None = None,
    function: Function | None = None,
    data: Mapping[str, Any] | None = None,
    cooperative: bool = False,
    delta: Code | None = None,
    state: Code | None = None,
    repair: Code | None = None,
    violation: Code | Function | None = None,
    price: Price = "adaptive",
    reference: Function | None = None,
    maximise: bool = False,
    name: str | None = None,
    best_known: float | None = None,
    plot: Function | None = None,
) -> Model:
    """Return a problem whose solutions are vectors between `low` and `high`, as `double`.

    The bounds are vectors, or numbers for all `n` coordinates. The other arguments are those of
    `permutation`, except `delta`.

    >>> problem = islands.real(-1, 1, 2, batch=lambda vectors: (vectors**2).sum(axis=1))
    >>> islands.solve(problem, generations=50).cost < 0.01
    True
    """
    return _model(box_of(low, high, n), locals())


def _model(kind: SolutionKind, given: Mapping[str, Any]) -> Model:
    """Return the problem for the arguments of `permutation` or of one of the other functions."""
    cost, delta, repair, data = (given[name] for name in ("cost", "delta", "repair", "data"))
    state, violation = given["state"], given["violation"]
    price = _price(given["price"], violation)
    reference, python, functions = given["reference"], _python(kind, given), None
    for name in ("delta", "state"):
        if kind.may_leave and given[name] is not None:
            instead = "pass choose=p, one number of items"
            if isinstance(kind, Order):
                instead = "leave before out, and state pairs in the wrong sequence as violation="
            raise UsageError(
                f"{name}: does not know how moves are corrected to {kind.words}. Leave {name} out,"
                f" or {instead}"
            )
    if python is None:
        functions = Functions(
            Text.of("cost", cost),
            None if delta is None else _delta(kind, delta),
            None if repair is None else Text.of("repair", repair),
            flag("cooperative", given["cooperative"]),
            None if state is None else Text.of("state", state),
            None if violation is None else _rule(violation),
        )
    else:
        for argument, value in {
            "delta": delta,
            "state": state,
            "repair": repair,
            "data": data,
        }.items():
            if value is not None:
                raise UsageError(
                    f"{argument}: only belongs to cost=, CUDA code, but"
                    f" {python.function.argument}= was given. Leave {argument} out"
                )
        if flag("cooperative", given["cooperative"]):
            raise UsageError("cooperative=True: only belongs to cost=, CUDA code. Leave it out")
    for argument in ("reference", "plot"):
        if given[argument] is not None:
            _require_callable(argument, given[argument])
    members = members_of(data)
    if ITEMS in members and ITEMS in kind.members:
        raise UsageError("data: with parts=, items is the number of items. Choose another name")
    model = Model(
        kind,
        name_or(given["name"], f"{kind.made_by}-{kind.size}"),
        members=members,
        functions=functions,
        python=python,
        reference=None if reference is None else UserFunction("reference", reference),
        violation=None if python is None else _python_rule(violation, python, kind),
        maximise=flag("maximise", given["maximise"]),
        best_known=_best(given["best_known"]),
        plot=given["plot"],
        price=price,
        adapts_price=price is None,
    )
    model.statement = dict(given)
    return model


def _python(kind: SolutionKind, given: Mapping[str, Any]) -> PythonCosts | None:
    """Return the Python function of the cost, or None for CUDA code; refuse none and several."""
    named = [name for name in ("cost", "batch", "function") if given[name] is not None]
    if len(named) != 1:
        what = f"{' and '.join(f'{each}=' for each in named)} were given" if named else "no cost"
        raise UsageError(
            f"islands.{kind.made_by}: {what}. Pass one of cost= (CUDA code), batch= (a Python"
            " function of many solutions) and function= (a Python function of one)"
        )
    (argument,) = named
    if argument == "cost":
        return None
    _require_callable(argument, given[argument])
    return PythonCosts(UserFunction(argument, given[argument]), kind)


def _rule(violation: Any) -> Text:
    """Return the code of the violation."""
    if callable(violation):
        raise UsageError(
            "violation: is a Python function, but cost= is CUDA code. Write both in CUDA, or pass"
            " batch= or function="
        )
    return Text.of("violation", violation)


def _price(price: Any, violation: Any) -> float | None:
    """Return the price of a violation; None if it adapts."""
    if isinstance(price, str) and price == "adaptive":
        return None
    is_number = isinstance(price, Real) and not isinstance(price, bool)
    if not is_number or not is_finite(price) or not price > 0:
        raise UsageError(f'price={shown(price)}: must be a number above 0, or "adaptive"')
    if violation is None:
        raise UsageError(f"price={shown(price)}: only belongs to violation=. Leave price out")
    return float(price)


def _python_rule(violation: Any, python: PythonCosts, kind: SolutionKind) -> PythonCosts | None:
    """Return the Python function of the violation, which takes what that of the cost takes."""
    if violation is None:
        return None
    _require_callable("violation", violation)
    function = UserFunction("violation", violation, takes_one=not python.is_batch)
    return PythonCosts(function, kind, always_real=True)


def _require_callable(argument: str, value: Any) -> None:
    if not isinstance(value, Callable):  # type: ignore[arg-type]
        fix = "CUDA code is passed as cost=" if isinstance(value, str | Path) else "Pass a function"
        if argument == "violation":
            fix = "With batch= or function=, pass a function"
        raise UsageError(f"{argument}={shown(value)}: is not a Python function. {fix}")


def _delta(kind: SolutionKind, delta: Code) -> Text:
    if not kind.moves:
        raise UsageError(
            f"delta: is only used for orders, but these solutions are {kind.words}. Leave it out"
        )
    return Text.of("delta", delta)


def _best(value: float | None) -> BestKnown | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real) or not is_finite(value):
        raise UsageError(f"best_known={shown(value)}: is not a finite number")
    value = int(value) if isinstance(value, Integral) else float(value)
    return BestKnown(value, "best_known", "the script")
