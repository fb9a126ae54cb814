"""Optional capabilities of problems: moves, item numbering, words for messages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from islands.instances.solution_files import Remark


@dataclass(frozen=True)
class ChainMoves:
    """The moves by which tempering can change a solution, besides those of `swaps` and `core`."""

    proposals: tuple[str, ...] = ()
    """Moves that tempering may propose, as kernels can compute the cost after them."""
    has_state: bool = False
    """Whether kernels update a state, from which the cost change of a move takes a few steps."""
    has_steps: bool = False
    """Whether the state proposes its own moves."""
    has_cross: bool = False
    """Whether the state defines a crossover of two solutions."""


def _same(solutions: NDArray[Any]) -> NDArray[Any]:
    return solutions


@dataclass(frozen=True)
class Layout:
    """The meaning of the entries of a solution, and its form in kernels."""

    is_tour: bool = False
    """Whether an order is a closed tour whose cost is its length by `near`: diversity then compares
    edges, and islands/bounds finds a lower bound."""
    assigns: bool = False
    """Whether entry i of a solution is the place of item i, instead of the item at place i."""
    sorts_items: bool = False
    """Whether the device numbers items by decreasing utility."""
    to_device: Callable[[NDArray[Any]], NDArray[Any]] = _same
    """Convert a solution, or one per row, to the item numbers of the device."""
    from_device: Callable[[NDArray[Any]], NDArray[Any]] = _same
    """Convert solutions from the item numbers of the device to those of the instance."""


@dataclass(frozen=True)
class ProblemWords:
    """Words for messages about a problem."""

    cost: str = "cost"
    """The usual term for the cost, such as `length`."""
    infeasible_fix: str = ""
    """The suggested fix if a run finds no feasible solution."""
    moves_fix: str = "Add it to its header and to `moves` of its class"
    """The suggested fix if an improver needs another move."""
    structure: str = ""
    """Special structure of the instance, for the header of a run."""
    remarks: Sequence[Remark] = ()
    """Remarks about the file."""
