"""A model that differs a little from another one: some of its functions, data or arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from islands.calls import explained
from islands.errors import UsageError
from islands.modelling.kinds import box_of, chosen_of, keys_of, order_of, size_of
from islands.modelling.model import Model
from islands.problems.solution_kinds import Order, SolutionKind, Subset
from islands.text import shown, unknown

_KINDS: dict[str, Callable[..., SolutionKind]] = {
    "permutation": order_of,
    "subset": chosen_of,
    "keys": keys_of,
    "real": box_of,
}
"""What makes the kind of solutions for arguments of each function."""
_OF_THE_OLD = ("reference", "plot", "best_known")
"""Arguments about the old problem, which the new one only has if they are given again."""
_OF_THE_SEARCH = {"state", "delta", "name", *_OF_THE_OLD}
"""Arguments that change no cost."""


@explained
def changed(problem: Model, **arguments: Any) -> Model:
    """Return a problem that differs from another one in some arguments.

    They are those of the function that made it, such as `islands.subset`. In CUDA texts, `cost`
    and `state` above all, each function or struct takes the place of that of the old text with its
    name, which is then called `old_NAME`; the others are added. `state=None` leaves the old text
    out. `data` are added to the old ones. `reference`, `plot` and `best_known` of the old problem
    do not count for the new one. `n` stays the same.

    >>> dearer = '''
    ... __device__ long long cost(const Solution& s, int n, const Data& data) {
    ...     return 2 * old_cost(s, n, data);
    ... }'''
    >>> problem = islands.models.flow_shop([[3, 2], [1, 4], [2, 1]])
    >>> problem = islands.models.changed(problem, cost=dearer, state=None)
    >>> islands.solve(problem, generations=20).cost
    16
    """
    if not isinstance(problem, Model):
        raise UsageError(
            "problem: is not one of islands.models or of your own functions. Pass what such a"
            " function returned"
        )
    old, of_kind = vars(problem.statement), _arguments_of(problem.kind)
    new: dict[str, Any] = {**dict.fromkeys(_OF_THE_OLD), "name": f"{problem.name}-changed"}
    for name, value in arguments.items():
        if name in of_kind:
            continue
        if name not in old:
            raise UsageError(unknown("argument", name, [*of_kind, *old]))
        if name == "data" and old[name] is not None and value is not None:
            value = {**_data(old[name]), **_data(value)}
        new[name] = value
    model = Model(_changed_kind(problem, arguments), problem.statement.changed(new))
    has_state = model.statement.state is not None
    model.learns, model.searches = problem.learns and has_state, problem.searches and has_state
    if arguments.keys() <= _OF_THE_SEARCH:
        model.same_cost_as = problem
    return model


def _arguments_of(kind: SolutionKind) -> dict[str, Any]:
    """Return the arguments that make a kind of solutions."""
    found = dict.fromkeys(inspect.signature(_KINDS[kind.made_by]).parameters)
    if isinstance(kind, Order):
        before = None if kind.before is None else kind.before.pairs
        return {**found, "n": kind.items, "before": before, "parts": kind.parts}
    choose = {"choose": kind.choose} if isinstance(kind, Subset) else {}
    return {**found, **kind.box, "n": kind.size, **choose}


def _changed_kind(problem: Model, arguments: Mapping[str, Any]) -> SolutionKind:
    """Return the kind of solutions for new arguments; `n` stays the same."""
    old = _arguments_of(problem.kind)
    new = {name: value for name, value in arguments.items() if name in old}
    if "n" in new and size_of(new["n"]) != old["n"]:
        raise UsageError(
            f"n={shown(new['n'])}: the texts and data of {problem.name} are for n={old['n']}. Omit"
            " n, or make a new problem"
        )
    return _KINDS[problem.kind.made_by](**{**old, **new}) if new else problem.kind


def _data(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UsageError(f"data: is of the type {type(value).__name__}. Pass a dict of arrays")
    return value
