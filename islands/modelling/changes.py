"""A model that differs a little from another one: some of its functions, data or arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from islands.calls import explained
from islands.errors import UsageError
from islands.modelling.api import keys, permutation, real, subset
from islands.modelling.header import Text
from islands.modelling.kinds import size_of
from islands.modelling.merging import merged
from islands.modelling.model import Model
from islands.text import shown, unknown

_MAKERS: dict[str, Callable[..., Model]] = {
    each.__name__: each for each in (permutation, subset, keys, real)
}
_TEXTS = ("cost", "delta", "state", "repair", "violation")
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
    old = problem.statement if isinstance(problem, Model) else None
    if not old:
        raise UsageError(
            "problem: is not one of islands.models or of your own functions. Pass what such a"
            " function returned"
        )
    new = {name: None if name in _OF_THE_OLD else value for name, value in old.items()}
    new["name"] = f"{problem.name}-changed"
    for name, value in arguments.items():
        if name not in old:
            raise UsageError(unknown("argument", name, old))
        if name == "n" and value is not old["n"] and size_of(value) != old["n"]:
            raise UsageError(
                f"n={shown(value)}: the texts and data of {problem.name} are for n={old['n']}. Omit"
                " n, or make a new problem"
            )
        both = old[name] is not None and value is not None
        if both and name in _TEXTS and not callable(value):
            value = merged(Text.of(name, old[name]).code, Text.of(name, value).code)
        if both and name == "data":
            value = {**_data(old[name]), **_data(value)}
        new[name] = value
    model = _MAKERS[problem.kind.made_by](**new)
    has_state = new["state"] is not None
    model.learns, model.searches = problem.learns and has_state, problem.searches and has_state
    model.plain = problem.plain if arguments.keys() <= _OF_THE_SEARCH else None
    return model


def _data(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UsageError(f"data: is of the type {type(value).__name__}. Pass a dict of arrays")
    return value
