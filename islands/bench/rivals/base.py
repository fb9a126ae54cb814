"""What a rival is: a program that solves some instances, run in a process of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from islands.problems.base import Problem


@dataclass(frozen=True)
class Answer:
    """The result of one run of a rival."""

    course: Sequence[tuple[float, float]]
    """Each better cost with the seconds until it was found."""
    solution: Sequence[int] | None
    """The last one, for an independent check."""
    seconds: float
    proved: bool = False


class Rival(ABC):
    """A program with one thread, of which each core gets a copy with another seed."""

    name: ClassVar[str]
    package: ClassVar[str]
    """What `pip install` gets."""
    module: ClassVar[str]
    is_seeded: ClassVar[bool] = True
    """Whether runs with different seeds differ; otherwise one copy runs, once."""

    @abstractmethod
    def refusal(self, problem: Problem) -> str | None:
        """Return why an instance does not fit, or None if it does."""

    @abstractmethod
    def solve(self, problem: Problem, seed: int, seconds: float) -> Answer:
        """Run for about the given seconds, or until the best known value; in a worker process.

        The time to read the problem into the data structures of Python does not count.
        """
