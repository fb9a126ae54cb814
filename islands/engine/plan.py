"""Plans: the runs that a command or call requests, and their settings.

A cell identifies one run of a plan, for example by a number, or by an instance and a seed. The
result of a run depends only on the plan and the cell.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from islands.backends.base import Backend
from islands.configuration.request import Request
from islands.configuration.resolved import Resolved
from islands.configuration.spec import RunSpec
from islands.custom.scripts import Trust
from islands.custom.trust import within
from islands.engine.build import RankOptions
from islands.engine.runner import run
from islands.engine.single import Output
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress.progress import Callback
from islands.progress.result import Result

Cell = TypeVar("Cell")
Other = TypeVar("Other")


@dataclass
class Ready(Generic[Cell]):
    """A cell whose settings and problem are known."""

    cell: Cell
    resolved: Resolved

    @property
    def spec(self) -> RunSpec:
        """The settings of the run."""
        return self.resolved.spec

    @property
    def problem(self) -> Problem:
        """The problem of the run."""
        return self.resolved.problem


class Plan(ABC, Generic[Cell]):
    """The base class of plans."""

    start: Sequence[Any] = ()
    """Start solutions of all requested runs, as arrays."""
    shares: bool = True
    """Whether runs may share launches."""
    repeats: bool = False
    """Whether each problem has enough runs to fill launches of its own."""
    callback: Callback | None = None
    """A function that receives the progress of each run; runs then do not share launches."""
    trust: Trust | None = None
    """The scripts that a call in Python trusts; its threads must trust them too."""

    @abstractmethod
    def request(self, cell: Cell) -> Resolved | tuple[Request, Problem | None]:
        """Return a resolved run, or a request and its problem.

        The problem is None if it is read by the name in the request.
        """

    def value_of(self, ready: Ready[Cell], result: Result) -> Any:
        """Return the value to yield for a result; called on the thread that performed the run."""
        return result

    def received(self, cell: Cell, value: Any) -> Any:
        """Complete the value of a cell, which may come from another rank, and return it."""
        return value

    def trusted(self) -> AbstractContextManager[None]:
        """Return a context manager that trusts the scripts of this plan."""
        return nullcontext() if self.trust is None else within(self.trust)

    def alone(self, ready: Ready[Cell], device: Backend, is_over: Callable[[], bool]) -> Result:
        """Perform a run without shared launches; it ends early when `is_over` is true."""
        device.begin_run()
        output = Output(callback=self.callback, ends=is_over, collects=True)
        return run(ready.resolved, World(), output, RankOptions(device=device))
