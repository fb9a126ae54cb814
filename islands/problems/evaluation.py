"""Who computes the costs of solutions in a run, and how much work that is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Struct
from islands.backends.base import Backend

Ends = Callable[[Any], NDArray[np.bool_]]
"""Whether costs of a function may end a run, after which it need not be called any more."""


def never() -> bool:
    """Return that all solutions must be evaluated."""
    return False


class Evaluated(Protocol):
    """A problem, as its evaluation needs it."""

    maximise: bool

    @property
    def size(self) -> int:
        """The number of items."""

    def costs(self, solutions: NDArray[Any]) -> NDArray[Any]:
        """Return the exact cost of each row."""


class HostCosts(Protocol):
    """A function in Python that computes costs instead of kernels."""

    callers: int
    """The number of processes that call it at the same time."""

    @property
    def is_batch(self) -> bool:
        """Whether it takes many solutions at once."""

    def stored_costs(self, stored: Any, *, is_compared: bool) -> Any:
        """Return the costs of solutions as kernels store them, in their memory."""


class Evaluation:
    """The evaluation of a problem by its kernels, whose costs NumPy confirms."""

    python: HostCosts | None = None
    """The Python function that computes costs instead of kernels."""
    argument: str = "cost"
    """The argument with the cost: `cost`, `batch` or `function`."""
    name: str = "an evaluation"
    """What evaluates solutions, for a message about an evaluation that does not return."""
    cost_fix: str = "This is an error in islands: please report it"
    """The fix that is shown if the kernels and the exact objective give different costs."""
    numbers_differ: bool = False
    """Whether the numbers in `problem::Data` may differ between instances that share launches,
    also if the problem is a user's own."""
    is_serial: bool = False
    """Whether one thread evaluates a solution, instead of all threads of a block together."""

    def __init__(
        self,
        problem: Evaluated,
        *,
        items: int | None = None,
        reads: Mapping[str, int] | None = None,
        changes_solutions: bool = False,
        same_memory: bool = True,
    ) -> None:
        """Take the problem, and what differs from an evaluation that reads each item once."""
        self._problem, self._reads = problem, reads or {}
        self.items = problem.size if items is None else items
        """The number of work items that the threads of a block share in an evaluation."""
        self.changes_solutions = changes_solutions
        """Whether kernels may change a solution when they evaluate it."""
        self.same_memory = same_memory
        """Whether kernels need as much memory for any other instance of its size and kind."""

    @property
    def checker(self) -> str:
        """What computes the exact costs."""
        return "NumPy"

    def reads(self, move: str) -> int:
        """Return the approximate number of memory reads for the cost difference of one move."""
        return self._reads.get(move, self._problem.size)

    @contextmanager
    def prepared(self, processes: int, backend: str) -> Iterator[str]:
        """Prepare evaluations during a run on a backend, by at most `processes` processes.

        Yield a text about who evaluates, which is empty if kernels do.
        """
        yield ""

    def reports(self) -> Mapping[str, NDArray[Any] | np.generic]:
        """Return the members of `problem::Data` to which kernels report wrong values."""
        return {}

    def refuse_faults(self, data: Struct, device: Backend) -> None:
        """Raise a `RunError` if kernels have reported a fault in the arrays of `data`."""

    def refuse_reported(self, words: NDArray[np.int64]) -> None:
        """Raise a `RunError` if this content of the array of `reports` tells a fault."""

    def device_costs(
        self,
        solutions: NDArray[Any],
        must_leave: Callable[[], bool] = never,
        factors: NDArray[np.float64] | float = 1.0,
        ends: Ends | None = None,
    ) -> NDArray[np.int64]:
        """Return the exact costs as on the device, where they are minimised.

        If evaluations may take long, those after `must_leave` has returned true are left out, and
        those after a cost that `ends` them if a function is called for one after another.
        `factors` are those of the price of a violation, of each solution.
        """
        costs = self._problem.costs(solutions)
        return -costs if self._problem.maximise else costs
