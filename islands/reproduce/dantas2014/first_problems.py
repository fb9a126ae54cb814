"""What the tables by size have in common: the first problem of each kind, as in the paper."""

from __future__ import annotations

from typing import ClassVar

from islands.reproduce.dantas2014.divisions import GENERATIONS, PRESET
from islands.reproduce.orlib import first_names, kind
from islands.reproduce.pooled import PooledTable


class FirstProblems(PooledTable):
    """A row or several for each size, of the problems with the three tightnesses."""

    preset: ClassVar[str] = PRESET
    generations: ClassVar[int] = GENERATIONS

    @classmethod
    def names(cls) -> list[str]:
        """Return the first problem of each kind in the OR-Library."""
        return first_names()

    @classmethod
    def group(cls, instance: str) -> str:
        """Return the size of a problem."""
        return kind(instance).size
