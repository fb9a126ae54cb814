"""What a table of a paper is to the rest, and what a paper is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from islands.instances.locate import Found, Index
from islands.problems.base import Problem
from islands.reproduce.cells import Column, Fact, Row
from islands.reproduce.experiment import Experiment


class Table(ABC):
    """One table of a paper, to be filled row by row."""

    name: ClassVar[str]
    title: ClassVar[str]
    runs: ClassVar[int]
    """Runs of an instance, where nothing else is asked for."""
    needs_all: ClassVar[bool] = True
    """Whether each instance must be here; else those that are make the table."""

    def __init__(self, experiment: Experiment, missing: Sequence[str] = ()) -> None:
        self.experiment = experiment
        self.missing = missing

    @staticmethod
    @abstractmethod
    def instances(index: Index) -> list[Found]:
        """Return the table's instances in its order, those that are not here included."""

    @abstractmethod
    def columns(self) -> list[Column]:
        """Return the columns; the first names the instance."""

    @abstractmethod
    def row(self, problem: Problem) -> Row | None:
        """Run an instance and return its row, or None where it turns out not to belong here."""

    @abstractmethod
    def facts(self, rows: Sequence[Row]) -> list[Fact]:
        """Return what sums up the rows, of which there is at least one."""

    def curves(self) -> dict[str, str]:
        """Return which columns are times to plot against the number of cities, and their words."""
        return {}


@dataclass(frozen=True)
class Paper:
    """A paper's experiment."""

    title: str
    preset: str
    generations: int
    tables: dict[str, type[Table]]
