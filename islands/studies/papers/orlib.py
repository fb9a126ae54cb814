"""The knapsacks of Chu and Beasley in OR-Library: ten of each size and tightness."""

from itertools import product
from typing import NamedTuple

PROBLEMS = 10


class ProblemKind(NamedTuple):
    """The size and tightness that ten problems share."""

    m: int
    """Constraints."""
    n: int
    """Items."""
    tightness: str
    """Each capacity divided by the sum of its constraint's weights, as printed."""

    @property
    def size(self) -> str:
        """Constraints x items."""
        return f"{self.m} x {self.n}"

    @property
    def name(self) -> str:
        """The displayed name."""
        return f"{self.size}, {self.tightness}"

    def instances(self) -> tuple[str, ...]:
        """Return the full names of the ten problems."""
        file, place = divmod(KINDS.index(self), len(_TIGHTNESS))
        numbers = range(PROBLEMS * place, PROBLEMS * (place + 1))
        return tuple(f"orlib/mknapcb{file + 1}-{number:02}" for number in numbers)


_TIGHTNESS = ("0.25", "0.50", "0.75")
KINDS = [ProblemKind(*values) for values in product((5, 10, 30), (100, 250, 500), _TIGHTNESS)]
"""All kinds; each size has its own file, with the tighter problems first."""


def kind(instance: str) -> ProblemKind:
    """Return the kind of an instance."""
    file, number = instance.removeprefix("orlib/mknapcb").split("-")
    return KINDS[len(_TIGHTNESS) * (int(file) - 1) + int(number) // PROBLEMS]


def all_names() -> list[str]:
    """Return the names of all instances, kind by kind."""
    return [name for group in KINDS for name in group.instances()]


def first_names() -> list[str]:
    """Return the name of the first problem of each kind."""
    return [group.instances()[0] for group in KINDS]
