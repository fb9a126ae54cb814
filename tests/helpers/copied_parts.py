"""Parts of a script that are copies of built-in parts under other names."""

from typing import ClassVar

import islands
from islands.algorithms.ga import Ga
from islands.encodings.keys import Keys
from islands.improvers.orders import Swap
from islands.paths import data_folder
from islands.problems.tsp import Tsp


def copied(file: str, name: str, **renamed: str) -> islands.Header:
    """Return a header of the package under another name."""
    text = (data_folder("kernels") / file).read_text(encoding="utf-8")
    for old, new in renamed.items():
        text = text.replace(old, new)
    return islands.Header(name, text)


class Spread(islands.Crossover):
    name = "spread"
    encodings = ("keys", "bits")
    header = copied("crossovers/two_point.cuh", "spread.cuh")


class Shift(islands.Mutation):
    name = "shift"
    encodings = ("keys", "permutation")
    header = copied("mutations/insertion.cuh", "shift.cuh")

    def room(self, pitch: int) -> int:
        return 4 * pitch


class Climb(Swap):
    name: ClassVar[str] = "climb"
    header: ClassVar[islands.Header] = copied("improvers/local.cuh", "climb.cuh")


class Digits(Keys):
    name: ClassVar[str] = "digits"
    like: ClassVar[str] = "keys"
    header: ClassVar[islands.Header] = copied("encodings/keys.cuh", "digits.cuh")


class Breed(Ga):
    name: ClassVar[str] = "breed"
    header: ClassVar[islands.Header] = copied("algorithms/ga.cuh", "breed.cuh")


class Tour(Tsp):
    name: ClassVar[str] = "tour"
    header: ClassVar[islands.Header] = copied("problems/tsp.cuh", "tour.cuh")


def before(island: int, islands: int, number: int, seed: int) -> list[int]:
    """Return the sending island of the built-in ring."""
    return [(island - 1) % islands]


circle = islands.Topology("circle", before)


class Circle(islands.Topology):
    name = "round"
    changes = False

    def senders(self, island: int, islands: int, number: int, seed: int) -> list[int]:
        return before(island, islands, number, seed)
