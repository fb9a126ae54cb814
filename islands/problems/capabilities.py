"""Optional capabilities of problems: moves, a numbering of items, words for messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from islands.instances.solution_files import Remark


@dataclass(frozen=True)
class Chains:
    """How chains of tempering change a solution; those of `swaps` and `core` are not listed."""

    proposals: tuple[str, ...] = ()
    """The moves after which kernels compute the cost."""
    has_state: bool = False
    """Whether a state that is updated by moves gives their changes of the cost in a few steps."""
    has_steps: bool = False
    """Whether the state proposes moves of its own."""
    has_cross: bool = False
    """Whether the state makes children of two solutions."""


def _same(solutions: NDArray[Any]) -> NDArray[Any]:
    return solutions


@dataclass(frozen=True)
class Layout:
    """What the entries of a solution mean, and how kernels see them."""

    is_tour: bool = False
    """Whether an order is a closed tour, whose cost is its length by `near`: the edges of two
    orders are compared, and islands/bounds finds a lower bound."""
    assigns: bool = False
    """Whether entry i of a solution is the place of item i, instead of the item at place i."""
    sorts_items: bool = False
    """Whether the device numbers items by decreasing utility."""
    to_device: Callable[[NDArray[Any]], NDArray[Any]] = _same
    """Return solutions, one or a row each, with the items as the device numbers them."""
    from_device: Callable[[NDArray[Any]], NDArray[Any]] = _same
    """Return solutions of the device with the items as the instance numbers them."""


@dataclass(frozen=True)
class ProblemWords:
    """Words for messages about a problem."""

    cost: str = "cost"
    """The usual name of its cost, such as `length`."""
    infeasible_fix: str = ""
    """The fix that is shown if a run finds no feasible solution."""
    moves_fix: str = "Add it to its header and to `moves` of its class"
    """The fix that is shown if an improver needs another move."""
    structure: str = ""
    """What is special about the instance, for the header of a run."""
    remarks: Sequence[Remark] = ()
    """Remarks about its file."""
