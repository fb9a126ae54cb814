"""The parameters of `islands.mixed`: numbers, categories, orders and subsets by name.

A parameter decodes some coordinates of a vector, on which the search works, to a value, in Python
and in CUDA with the same bits.

- `Parameter`: base class: its coordinates, its values, and its member of `Solution` in CUDA.
- `Real`, `Integer` and `Category`: one coordinate each.
- `Order` and `Subset`: one coordinate for each item.

May import the basic modules only, such as `text` and `calls`.
"""

from __future__ import annotations

from typing import Any

from islands.calls import explained
from islands.space.parameters import Category, Integer, Order, Parameter, Real, Subset

__all__ = ["Parameter", "category", "integer", "order", "real", "subset"]


@explained
def real(low: float, high: float, *, log: bool = False) -> Parameter:
    """Return a real number from `low` to `high`; with `log`, all powers of ten are as likely.

    >>> islands.space.real(1e-5, 1, log=True)
    Real(low=1e-05, high=1.0, log=True)
    """
    return Real(low, high, log)


@explained
def integer(low: int, high: int, *, log: bool = False) -> Parameter:
    """Return a whole number from `low` to `high`, which it may be; `log` prefers small ones."""
    return Integer(low, high, log)


@explained
def category(*choices: Any) -> Parameter:
    """Return one of some choices, which may be any objects that are hashable.

    `function=` gets the choice, `batch=` and CUDA code its place in the list.

    >>> islands.space.category("adam", "sgd", None)
    Category(choices=('adam', 'sgd', None))
    """
    return Category.of(choices)


@explained
def order(n: int) -> Parameter:
    """Return an order of the items 0 to n - 1: an array with the item at each place."""
    return Order(n)


@explained
def subset(n: int) -> Parameter:
    """Return some of n items: an array with 1 for each chosen item, otherwise 0."""
    return Subset(n)
