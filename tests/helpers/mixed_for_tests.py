"""A small problem of parameters of each kind, and its cost in CUDA and in Python."""

from typing import Any

import numpy as np

import islands
from islands import space
from islands.modelling.model import Model

PARAMETERS = {
    "rate": space.real(1e-5, 1, log=True),
    "x": space.real(-2, 3),
    "depth": space.integer(-3, 12),
    "width": space.integer(2, 300, log=True),
    "kind": space.category("a", "b", None),
    "order": space.order(9),
    "items": space.subset(5),
}
_COST = """
__device__ double cost(const Solution& s, int n, const Data& data) {
    double sum = s.rate * 3.0 + s.x * s.x + s.depth * 0.5 + s.width * 0.25 + s.kind * 2.0;
    for (int i = 0; i < 9; ++i) sum += s.order[i] * data.weights[i];
    for (int i = 0; i < 5; ++i) sum += s.items[i] ? data.values[i] : 0.0;
    return sum;
}
"""
_WEIGHTS, _VALUES = np.array([3.0, 1, 4, 1, 5, 9, 2, 6, 5]), np.array([1.0, -2, 3, -4, 5])


def summed(s: Any) -> Any:
    """Return the costs of columns of values."""
    total = s["rate"] * 3 + s["x"] * s["x"] + s["depth"] * 0.5 + s["width"] * 0.25 + s["kind"] * 2
    for place in range(9):
        total = total + s["order"][:, place] * _WEIGHTS[place]
    for item in range(5):
        total = total + s["items"][:, item] * _VALUES[item]
    return total


def sum_of(s: dict[str, Any]) -> float:
    """Return the cost of one dict of values."""
    place = {"a": 0, "b": 1, None: 2}[s["kind"]]
    columns = {name: np.array([value]) for name, value in {**s, "kind": place}.items()}
    return float(summed(columns)[0])


def mixed_by(way: str) -> Model:
    """Return the problem, whose cost is given by `cost`, `batch` or `function`."""
    if way == "cost":
        data = {"weights": _WEIGHTS, "values": _VALUES}
        return islands.mixed(PARAMETERS, cost=_COST, data=data, reference=summed)
    if way == "batch":
        return islands.mixed(PARAMETERS, batch=summed)
    return islands.mixed(PARAMETERS, function=sum_of)
