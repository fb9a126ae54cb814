"""How the costs of solutions are computed in a run, with estimates of the work."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Struct
from islands.backends.base import Backend

Ends = Callable[[Any], NDArray[np.bool_]]
"""Returns which costs may end a run; the remaining calls of a function are then skipped."""


def never() -> bool:
    """Return False: all solutions must be evaluated."""
    return False


class Evaluated(Protocol):
    """The part of a problem that its evaluation needs."""

    maximise: bool

    @property
    def size(self) -> int:
        """The number of items."""

    def costs(self, solutions: NDArray[Any]) -> NDArray[Any]:
        """Return the exact cost of each row."""


class HostCosts(Protocol):
    """A Python function that computes costs in place of the kernels."""

    callers: int
    """Number of processes that call it concurrently."""

    @property
    def is_batch(self) -> bool:
        """Whether it takes many solutions per call."""

    def stored_costs(self, stored: Any, *, is_compared: bool) -> Any:
        """Return the costs of solutions in the layout and the memory of kernels."""


class Evaluation:
    """The evaluation of a problem by its kernels, whose costs are verified in NumPy."""

    python: HostCosts | None = None
    """The Python function that computes the costs, or None if kernels do."""
    argument: str = "cost"
    """The argument that provides the cost: `cost`, `batch` or `function`."""
    name: str = "an evaluation"
    """The subject of a message about an evaluation that does not return."""
    cost_fix: str = "This is an error in islands: please report it"
    """The suggested fix if the kernels and the exact objective disagree."""
    numbers_differ: bool = False
    """Whether instances that share launches may have different scalars in `problem::Data`, even if
    they are user-defined."""
    is_serial: bool = False
    """Whether a single thread evaluates a solution, instead of the whole block."""

    def __init__(
        self,
        problem: Evaluated,
        *,
        items: int | None = None,
        reads: Mapping[str, int] | None = None,
        changes_solutions: bool = False,
        same_memory: bool = True,
    ) -> None:
        """Set the properties that differ from an evaluation that reads each item once."""
        self._problem, self._reads = problem, reads or {}
        self.items = problem.size if items is None else items
        """Number of work items that the threads of a block share in an evaluation."""
        self.changes_solutions = changes_solutions
        """Whether kernels may change a solution when they evaluate it."""
        self.same_memory = same_memory
        """Whether kernels need the same memory for all instances of this size and kind."""

    @property
    def checker(self) -> str:
        """What computes the exact costs, for messages."""
        return "NumPy"

    def reads(self, move: str) -> int:
        """Return the approximate number of memory reads for the cost difference of one move."""
        return self._reads.get(move, self._problem.size)

    @contextmanager
    def prepared(self, processes: int, backend: str) -> Iterator[str]:
        """Prepare evaluations during a run on a backend, with at most `processes` processes.

        Yield a description of the evaluation; empty for kernels.
        """
        yield ""

    def reports(self) -> Mapping[str, NDArray[Any] | np.generic]:
        """Return the members of `problem::Data` to which kernels report wrong values."""
        return {}

    def reject_faults(self, data: Struct, device: Backend) -> None:
        """Raise a `RunError` if kernels have reported a fault in the arrays of `data`."""

    def reject_reported(self, words: NDArray[np.int64]) -> None:
        """Raise a `RunError` if the content of the array of `reports` indicates a fault."""

    def device_costs(
        self,
        solutions: NDArray[Any],
        must_leave: Callable[[], bool] = never,
        factors: NDArray[np.float64] | float = 1.0,
        ends: Ends | None = None,
    ) -> NDArray[np.int64]:
        """Return the exact costs as the integers that are minimised on the device.

        Remaining evaluations are skipped once `must_leave` returns true and, if a function is
        called per solution, after a cost for which `ends` is true. `factors` scale the price of
        a violation, for each solution.
        """
        costs = self._problem.costs(solutions)
        return -costs if self._problem.maximise else costs
