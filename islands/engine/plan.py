"""Plans: which runs are wanted, and with which settings.

A cell of a plan is whatever tells its runs apart, such as a number or an instance with a seed. The
result of a run depends on its cell and nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from islands.backends.base import Backend
from islands.configuration.asked import Asked
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
        """Its problem."""
        return self.resolved.problem


class Plan(ABC, Generic[Cell]):
    """What all plans have."""

    shares: bool = True
    """Whether runs may share launches."""
    repeats: bool = False
    """Whether each problem has so many runs that they share launches with no others."""
    callback: Callback | None = None
    """A function that receives the progress of each run; runs then share no launches."""
    trust: Trust | None = None
    """The trust of a call in Python, for the threads that work for it."""

    def made(self, ready: Ready[Cell], result: Result) -> Any:
        """Return the value to yield for a result; called on the thread that solved the run."""
        return result

    def received(self, cell: Cell, made: Any) -> Any:
        """Return what any rank made of a cell, with what it has not sent; called on each rank."""
        return made

    def trusted(self) -> AbstractContextManager[None]:
        """Return a context manager that trusts the scripts of this plan."""
        return nullcontext() if self.trust is None else within(self.trust)

    def alone(self, ready: Ready[Cell], device: Backend, is_over: Callable[[], bool]) -> Result:
        """Return the result of a run that shares no launches; it ends when `is_over`."""
        device.begin_run()
        output = Output(callback=self.callback, ends=is_over, collects=True)
        return run(ready.resolved, World(), output, RankOptions(device=device))


class AskedPlan(Plan[Cell]):
    """A plan whose cells ask for settings, as a command does, and for instances to be read."""

    start: Sequence[Any] = ()
    """Solutions, as arrays, with which all runs begin."""

    @abstractmethod
    def asked_of(self, cell: Cell) -> tuple[Asked, Problem | None]:
        """Return what a run asks for, and its problem unless it is to be read by its name."""


class ResolvedPlan(Plan[Cell]):
    """A plan that knows the settings and the problem of each run."""

    @abstractmethod
    def resolved(self, cell: Cell) -> Resolved:
        """Return the settings of a run, and its problem."""
