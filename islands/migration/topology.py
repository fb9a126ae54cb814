"""Topologies: which islands receive from which, a pure function of seed and epoch.

Ranks agree on it without talking. Drawn topologies take Philox' raw numbers, counted by the epoch,
which NumPy promises to keep the same in all its versions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.custom.kinds import Kind
from islands.custom.scripts import file_of, own_lines
from islands.errors import UsageError

Islands = NDArray[np.int64]
Senders = Callable[[int, int, int, int], Iterable[int]]
"""Takes an island, how many there are, the number of the migration, and the seed of the run."""
NOBODY = -1

_ASKED = 3
"""Of how many migrations ranks compare what a script says."""
_RANDOM, _BROADCAST = 1, 2  # what numbers are drawn for; never changed, as results depend on it


@dataclass(frozen=True)
class Scene:
    """Where migration takes place: how many islands, by which seed, for the how manieth time."""

    islands: int
    seed: int
    epoch: int

    def draw(self, purpose: int, count: int) -> NDArray[np.uint64]:
        """Return numbers that are always the same for this seed, epoch and purpose."""
        counter = np.array([0, self.epoch, purpose, 0], np.uint64)
        raw = np.random.Philox(key=np.uint64(self.seed), counter=counter).random_raw(count)
        return np.asarray(raw, np.uint64)


class Topology:
    """From whom each island receives, as a function or a subclass with `senders` says it.

    It must be pure: all ranks ask it by themselves, and have to be told the same.
    """

    name: str
    changes: bool = True
    """Whether it is another at each migration."""
    most: int | None = None
    """From how many islands one receives at any migration; None: it may be from all others."""
    function: Senders | None = None
    hint: ClassVar[str] = ", let the topology say most=1 where no more send to one island"
    """What helps where populations have no room for so many."""

    def __init__(
        self,
        name: str | None = None,
        function: Senders | None = None,
        *,
        most: int | None = None,
        changes: bool | None = None,
    ) -> None:
        """Take `function(island, islands, number, seed)`, which returns numbers of islands.

        The migrations have the numbers 1, 2 and so on. `changes=False` promises that all are alike.
        """
        given = {"name": name, "function": function, "most": most, "changes": changes}
        for key, value in given.items():
            if value is not None:
                setattr(self, key, value)

    def senders(self, island: int, islands: int, number: int, seed: int) -> Iterable[int]:
        """Return the islands that send to `island` at a migration, in a run with this seed."""
        assert self.function is not None, "sources() refuses what says nothing"
        return self.function(island, islands, number, seed)

    def widest(self, islands: int, seed: int) -> int:
        """Return from how many islands one receives at most."""
        if not self.changes:
            return int(self.sources(Scene(islands, seed, 1), range(islands)).shape[1])
        return islands - 1 if self.most is None else min(self.most, islands - 1)

    def slots(self, mine: int, islands: int, ranks: int) -> int:
        """Return how many islands a rank sends and receives at most, once for each other rank."""
        return mine * ranks + islands - mine

    def sources(self, scene: Scene, receivers: range) -> Islands:
        """Return a row for each receiver: the islands that send to it, ascending, then NOBODY."""
        if self.function is None and type(self).senders is Topology.senders:
            raise UsageError(
                f"topology {self.name}: nothing says from whom an island receives. Write"
                f" Topology({self.name!r}, function), or define senders() in a subclass"
            )
        rows = [self._checked(scene, island) for island in receivers]
        found = np.full((len(rows), max(map(len, rows), default=0)), NOBODY, np.int64)
        for place, row in enumerate(rows):
            found[place, : len(row)] = row
        return found

    def said(self, islands: int, seed: int) -> str:
        """Return what it says of the first migrations; refuse one that says another thing again."""
        scenes = [Scene(islands, seed, number) for number in range(1, 1 + _ASKED)]
        first, again = (
            [self.sources(scene, range(islands)).tolist() for scene in scenes] for _ in range(2)
        )
        if first != again:
            raise UsageError(
                f"topology {self.name}: asked twice, it says two things. It has to be pure, as each"
                " rank asks it by itself: let what it draws depend on number and seed alone"
            )
        return str(first)

    def _checked(self, scene: Scene, island: int) -> list[int]:
        """Return who sends to an island, in order, having checked what a script says."""
        where = f"topology {self.name}, island {island} of {scene.islands}, migration {scene.epoch}"
        with own_lines(file_of(self.function or type(self)), where):
            said = list(self.senders(island, scene.islands, scene.epoch, scene.seed))
        for each in said:
            if isinstance(each, bool) or not isinstance(each, int | np.integer):
                fault = f"{each!r} is no whole number"
            elif not 0 <= each < scene.islands:
                fault = f"{each} is no island, which have the numbers 0 to {scene.islands - 1}"
            elif each == island:
                fault = "an island does not receive from itself"
            elif said.count(each) > 1:
                fault = f"{each} is there twice"
            else:
                continue
            raise UsageError(f"{where}: receives from {said}: {fault}")
        most = self.most if self.changes else None
        if most is not None and len(said) > most:
            raise UsageError(
                f"{where}: receives from {said}, but most={most} islands were promised. Raise most"
            )
        return sorted(map(int, said))


class _BuiltIn(Topology):
    """One that chooses for many islands at once: a row of senders an island, not yet in order.

    Where it `changes`, every island receives from one at most; else nobody from more than island 0.
    """

    hint: ClassVar[str] = ""

    def __init__(
        self, choose: Callable[[Scene, Islands], Islands], *, changes: bool = False
    ) -> None:
        super().__init__(changes=changes)
        self._choose = choose

    def widest(self, islands: int, seed: int) -> int:
        return 1 if self.changes else self.sources(Scene(islands, seed, 1), range(1)).shape[1]

    def slots(self, mine: int, islands: int, ranks: int) -> int:
        # Each island sends to one rank at most, or one to all.
        return 2 * mine + ranks

    def sources(self, scene: Scene, receivers: range) -> Islands:
        mine = np.arange(receivers.start, receivers.stop, dtype=np.int64)
        rows = np.asarray(self._choose(scene, mine), np.int64).reshape(len(mine), -1)
        rows = np.where(rows == mine[:, None], NOBODY, rows)
        # Sorted with nobody last, where an island stands twice it is taken once.
        rows = np.sort(np.where(rows == NOBODY, scene.islands, rows), axis=1)
        repeated = np.zeros(rows.shape, bool)
        repeated[:, 1:] = rows[:, 1:] == rows[:, :-1]
        rows = np.sort(np.where(repeated, scene.islands, rows), axis=1)
        width = int(np.max(np.sum(rows < scene.islands, axis=1), initial=0))
        return np.where(rows == scene.islands, NOBODY, rows)[:, :width]


def _ring(scene: Scene, mine: Islands) -> Islands:
    return np.asarray((mine - 1) % scene.islands)


def _elite(scene: Scene, mine: Islands) -> Islands:
    return np.broadcast_to(np.arange(scene.islands), (len(mine), scene.islands))


def _broadcast(scene: Scene, mine: Islands) -> Islands:
    drawn = int(scene.draw(_BROADCAST, 1)[0]) * scene.islands >> 64
    return np.full(len(mine), drawn, np.int64)


def _torus(scene: Scene, mine: Islands) -> Islands:
    # Each row goes on in the next and the last in the first, so that any number makes a torus.
    row = max(1, isqrt(scene.islands))
    return np.asarray((mine[:, None] + np.array([-row, -1, 1, row])) % scene.islands)


def _hypercube(scene: Scene, mine: Islands) -> Islands:
    bits = 1 << np.arange(max(1, (scene.islands - 1).bit_length()), dtype=np.int64)
    across = mine[:, None] ^ bits
    return np.where(across < scene.islands, across, NOBODY)


def _random(scene: Scene, mine: Islands) -> Islands:
    # A ring in an order drawn afresh: everybody sends to one other, and nobody to itself.
    order = np.argsort(scene.draw(_RANDOM, scene.islands), kind="stable")
    before = np.empty(scene.islands, np.int64)
    before[order] = np.roll(order, 1)
    return before[mine]


def _none(scene: Scene, mine: Islands) -> Islands:
    return np.empty((len(mine), 0), np.int64)


TOPOLOGIES: dict[str, Topology] = {
    "ring": _BuiltIn(_ring),  # each island sends to its successor
    "elite": _BuiltIn(_elite),  # each to every other, as BRKGA exchanges its elite
    "broadcast": _BuiltIn(_broadcast, changes=True),  # one, drawn each time, to all others
    "torus": _BuiltIn(_torus),  # each to four neighbours in rows of about the square root
    "hypercube": _BuiltIn(_hypercube),  # each to those whose number differs in one bit
    "random": _BuiltIn(_random, changes=True),  # each to one other, in a ring drawn each time
    "none": _BuiltIn(_none),  # nobody sends
}
for _name, _topology in TOPOLOGIES.items():
    _topology.name = _name

KIND = Kind("topology", Topology, TOPOLOGIES, TOPOLOGIES.values(), needs=(), is_made=True)
