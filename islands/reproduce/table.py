"""What a table of a paper is to the rest, and what a paper is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from islands.instances.locate import Found, Index
from islands.problems.base import Problem
from islands.reproduce.cells import Column, Fact, Plot, Row
from islands.reproduce.experiment import Experiment

ALL_CORES = 0
"""In place of a number of threads."""


class Table(ABC):
    """One table of a paper, to be filled row by row."""

    name: ClassVar[str]
    title: ClassVar[str]
    preset: ClassVar[str]
    also: ClassVar[tuple[str, ...]] = ()
    """Presets that some of its rows are made by, instead."""
    generations: ClassVar[int]
    """Of the paper's runs."""
    runs: ClassVar[int]
    """Runs of an instance, where nothing else is asked for."""
    needs_all: ClassVar[bool] = True
    """Whether each instance must be here; else those that are make the table."""
    beside: ClassVar[bool] = False
    """Whether the runs of an instance go on side by side, on the device of a single rank."""
    is_extra: ClassVar[bool] = False
    """Whether it is no part of the paper, and filled only where it is named."""

    def __init__(
        self,
        experiment: Experiment,
        missing: Sequence[str] = (),
        here: Sequence[str] | None = None,
    ) -> None:
        """Take the names of its instances that are not here, and of those that will be run.

        None means all of them.
        """
        self.experiment = experiment
        self.missing = missing
        self.here = here

    @classmethod
    def presets(cls) -> str:
        """Return the names of all its presets."""
        return " and ".join((cls.preset, *cls.also))

    @staticmethod
    @abstractmethod
    def instances(index: Index) -> list[Found]:
        """Return the table's instances in its order, those that are not here included."""

    @abstractmethod
    def columns(self) -> list[Column]:
        """Return the columns; the first names the instance, the second gives its size."""

    def leaves_out(self, problem: Problem) -> str:
        """Return why an instance is no part of the table after all; empty where it is one."""
        return ""

    @abstractmethod
    def rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance and yield the rows that are complete now."""

    @abstractmethod
    def facts(self, rows: Sequence[Row]) -> list[Fact]:
        """Return what sums up the rows, of which there is at least one."""

    def parts(self) -> tuple[list[Column], list[Row]]:
        """Return what rows that sum up several instances are made of; nothing where none does."""
        return [], []

    def plots(self) -> list[Plot]:
        """Return what to plot against the size of the instances."""
        return []


@dataclass(frozen=True)
class Paper:
    """A paper's experiment."""

    title: str
    tables: dict[str, type[Table]]
    threads: tuple[int, ...]
    """Of the CPU runs to compare times with, as far as there are cores, or `ALL_CORES`."""

    def own_tables(self) -> dict[str, type[Table]]:
        """Return the tables that the paper has."""
        return {name: table for name, table in self.tables.items() if not table.is_extra}
