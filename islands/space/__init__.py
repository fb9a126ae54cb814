"""The parameters of `islands.mixed`: numbers, categories, orders and subsets by name.

The search works on a vector of coordinates. A parameter decodes some of them to a value, which is
bit-identical in Python and in CUDA.

- `Parameter`: the base class: coordinates, entries and values.
- `Real`, `Integer` and `Category`: parameters with one coordinate.
- `Order` and `Subset`: parameters with one coordinate per item.

May import the basic modules only, such as `text` and `calls`.
"""

from typing import Any

from islands.calls import explained
from islands.space.parameters import Category, Integer, Order, Parameter, Real, Subset

__all__ = ["Parameter", "category", "integer", "order", "real", "subset"]


@explained
def real(low: float, high: float, *, log: bool = False) -> Parameter:
    """Return a parameter for a real number from `low` to `high`; `log`: on a logarithmic scale.

    >>> islands.space.real(1e-5, 1, log=True)
    Real(low=1e-05, high=1.0, log=True)
    """
    return Real(low, high, log)


@explained
def integer(low: int, high: int, *, log: bool = False) -> Parameter:
    """Return a parameter for a whole number from `low` to `high`; `log`: on a logarithmic scale."""
    return Integer(low, high, log)


@explained
def category(*choices: Any) -> Parameter:
    """Return a parameter for one of several choices, which may be any hashable objects.

    `function=` receives the choice; `batch=` and CUDA code receive its index.

    >>> islands.space.category("adam", "sgd", None)
    Category(choices=('adam', 'sgd', None))
    """
    return Category.of(choices)


@explained
def order(n: int) -> Parameter:
    """Return a parameter for an order of the items 0 to n - 1: an array of the items by place."""
    return Order(n)


@explained
def subset(n: int) -> Parameter:
    """Return a parameter for a subset of n items: an array with 1 for chosen items, otherwise 0."""
    return Subset(n)
