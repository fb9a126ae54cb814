"""The interface of rivals: other programs that `quality` compares with our runs."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from islands.modelling.model import Model
from islands.models.plain import Plain
from islands.problems.base import Problem
from islands.studies.described import described


@dataclass(frozen=True)
class Answer:
    """The result of one run of a rival."""

    course: Sequence[tuple[float, float]]
    """Each better cost with the seconds until it was found."""
    solution: Sequence[float] | None
    """The best solution, for an independent check of its cost."""
    seconds: float
    proved: bool = False


class Rival(ABC):
    """A program that runs once per core, with different seeds, or uses all cores itself."""

    name: ClassVar[str]
    package: ClassVar[str]
    """The name for `pip install`."""
    module: ClassVar[str] = ""
    """The imported module, if its name differs from that of the package."""
    is_seeded: ClassVar[bool] = True
    """Whether runs with different seeds differ; otherwise, the program runs only once."""
    is_parallel: ClassVar[bool] = False
    """Whether one copy uses all threads."""
    statements: ClassVar[tuple[type[Plain], ...]] = ()
    """The classes of problems, as plain data, that it solves."""
    solves: ClassVar[str]
    """The problems that it solves, for error messages."""

    def __init_subclass__(cls, of: str = "") -> None:
        """Set the attributes of a program from `rivals.toml`."""
        super().__init_subclass__()
        if of:
            cls.name = of
            for name, value in described(Path(__file__).with_name("rivals.toml"))[of].items():
                setattr(cls, name, value)

    def rejection(self, problem: Problem) -> str | None:
        """Return why an instance is not supported, or None if it is."""
        return None if self.given(problem) is not None else f"solves {self.solves} only"

    def given(self, problem: Problem) -> Any:
        """Return the picklable argument of `solve`; None if the problem is not supported."""
        plain = problem.plain() if isinstance(problem, Model) else None
        if not isinstance(plain, self.statements):
            return None
        return replace(plain, best=problem.best_known.value if problem.best_known else None)

    @abstractmethod
    def solve(self, problem: Any, seed: int, seconds: float, threads: int = 1) -> Answer:
        """Run in a worker process, for about the given seconds or until the best known value.

        The time to convert the problem to the data structures of the program does not count.
        """
