"""Topologies: which islands send migrants to which, a pure function of seed and migration number.

Each rank computes it without messages. Random topologies use the raw numbers of Philox, with the
migration number as its counter; NumPy promises that they stay the same in all its versions.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.calls import is_whole
from islands.custom.parts import PartKind
from islands.custom.scripts import file_of, script_errors
from islands.errors import UsageError
from islands.migration import messages
from islands.parallel import Deal

Islands = NDArray[np.int64]
Senders = Callable[[int, int, int, int], Iterable[int]]
"""Takes an island, the number of islands, the migration number and the seed of the run; returns the
islands that send to it."""
NOBODY = -1

_COMPARED = 3
"""Number of migrations whose senders are compared between ranks, for topologies from scripts."""
_RANDOM, _BROADCAST = 1, 2  # purposes of random numbers; results depend on these values


@dataclass(frozen=True)
class Scene:
    """The arguments of a topology: number of islands, seed and migration number."""

    islands: int
    seed: int
    number: int

    def draw(self, purpose: int, count: int) -> NDArray[np.uint64]:
        """Return `count` random numbers, the same for equal seed, migration number and purpose."""
        counter = np.array([0, self.number, purpose, 0], np.uint64)
        raw = np.random.Philox(key=np.uint64(self.seed), counter=counter).random_raw(count)
        return np.asarray(raw, np.uint64)


class Topology:
    """The senders of each island, given by a function or by a subclass that defines `senders`.

    The function must be pure: every rank calls it, and all ranks need the same result.

    >>> back = islands.Topology("back", lambda island, count, *_: [(island + 1) % count], most=1)
    >>> back.senders(3, 4, 1, 1)
    [0]
    >>> islands.solve("demo/tsp", islands=4, generations=2, migration=back, interval=1).reason
    '2 generations done'
    """

    name: str
    changes: bool = True
    """Whether the senders differ between migrations."""
    most: int | None = None
    """The largest number of islands that send to one island in a migration; None for all others."""
    function: Senders | None = None
    is_built_in: ClassVar[bool] = False
    """Whether it calls no function of a user."""
    hint: ClassVar[str] = ", pass most=1 to Topology if at most one island sends to each"
    """The suggested fix when populations are too small for the migrants."""

    def __init__(
        self,
        name: str | None = None,
        function: Senders | None = None,
        *,
        most: int | None = None,
        changes: bool | None = None,
    ) -> None:
        """Take `function(island, islands, number, seed)`, which returns the islands that send.

        `number` is the migration number: 1, 2 and so on. `changes=False` promises that the senders
        are the same in all migrations.
        """
        given = {"name": name, "function": function, "most": most, "changes": changes}
        for key, value in given.items():
            if value is not None:
                setattr(self, key, value)

    def senders(self, island: int, islands: int, number: int, seed: int) -> Iterable[int]:
        """Return the islands that send to `island` in the migration `number` of a run."""
        assert self.function is not None, "sources() rejects a topology without senders"
        return self.function(island, islands, number, seed)

    def widest(self, islands: int, seed: int) -> int:
        """Return the largest number of islands that send to one island."""
        if not self.changes:
            return int(self.sources(Scene(islands, seed, 1), range(islands)).shape[1])
        return islands - 1 if self.most is None else min(self.most, islands - 1)

    def slots(self, islands: int, deal: Deal) -> int:
        """Return the largest number of slots that a rank with this number of islands needs."""
        return islands * deal.ranks + deal.islands - islands

    def sources(self, scene: Scene, receivers: range) -> Islands:
        """Return a row for each receiver: its senders in ascending order, padded with NOBODY."""
        if self.function is None and type(self).senders is Topology.senders:
            raise messages.no_senders(self.name)
        rows = [self._checked(scene, island) for island in receivers]
        sources = np.full((len(rows), max(map(len, rows), default=0)), NOBODY, np.int64)
        for place, row in enumerate(rows):
            sources[place, : len(row)] = row
        return sources

    def first_senders(self, islands: int, seed: int) -> str:
        """Return the senders of the first migrations as text, to compare ranks.

        Reject an impure function.
        """
        scenes = [Scene(islands, seed, number) for number in range(1, 1 + _COMPARED)]
        first, again = (
            [self.sources(scene, range(islands)).tolist() for scene in scenes] for _ in range(2)
        )
        if first != again:
            raise messages.impure_topology(self.name)
        return str(first)

    def _checked(self, scene: Scene, island: int) -> list[int]:
        """Return the islands that send to `island`, ascending; reject invalid ones."""
        where = (
            f"topology {self.name}, island {island} of {scene.islands}, migration {scene.number}"
        )
        with script_errors(file_of(self.function or type(self)), where):
            senders = list(self.senders(island, scene.islands, scene.number, scene.seed))
        for sender in senders:
            if not is_whole(sender):
                fault = f"{sender!r} is not a whole number"
            elif not 0 <= sender < scene.islands:
                fault = f"{sender} is not an island number (0 to {scene.islands - 1})"
            elif sender == island:
                fault = "an island does not receive from itself"
            elif senders.count(sender) > 1:
                fault = f"{sender} appears twice"
            else:
                continue
            raise UsageError(f"{where}: receives from {senders}: {fault}")
        most = self.most if self.changes else None
        if most is not None and len(senders) > most:
            raise UsageError(
                f"{where}: receives from {senders}, which are more than most={most}. Raise most"
            )
        return sorted(map(int, senders))


class _BuiltIn(Topology):
    """A topology that computes many islands at once: a row of unsorted senders for each island.

    If it `changes`, an island has at most one sender. With `sends_once`, an island sends to at most
    one other, or one island sends to all. With `from_all`, an island receives from all others.
    """

    is_built_in: ClassVar[bool] = True
    hint: ClassVar[str] = ""

    def __init__(
        self,
        choose: Callable[[Scene, Islands], Islands],
        *,
        changes: bool = False,
        sends_once: bool = False,
        from_all: bool = False,
    ) -> None:
        super().__init__(changes=changes)
        self._choose, self._sends_once, self._from_all = choose, sends_once, from_all
        self._most_senders: dict[int, int] = {}  # by the number of islands, if it never changes

    def widest(self, islands: int, seed: int) -> int:
        if self._from_all:
            return islands - 1
        if self.changes:
            return 1
        if islands not in self._most_senders:
            self._most_senders[islands] = super().widest(islands, seed)
        return self._most_senders[islands]

    def slots(self, islands: int, deal: Deal) -> int:
        if not self._sends_once:
            return super().slots(islands, deal)
        # An island receives from one other, and each rank of its team gets the migrants.
        return islands * (1 + deal.largest_team) + deal.ranks

    def sources(self, scene: Scene, receivers: range) -> Islands:
        numbers = np.arange(receivers.start, receivers.stop, dtype=np.int64)
        rows = np.asarray(self._choose(scene, numbers), np.int64).reshape(len(numbers), -1)
        rows = np.where(rows == numbers[:, None], NOBODY, rows)
        # Sort with NOBODY last, and remove duplicates.
        rows = np.sort(np.where(rows == NOBODY, scene.islands, rows), axis=1)
        repeated = np.zeros(rows.shape, bool)
        repeated[:, 1:] = rows[:, 1:] == rows[:, :-1]
        rows = np.sort(np.where(repeated, scene.islands, rows), axis=1)
        width = int(np.max(np.sum(rows < scene.islands, axis=1), initial=0))
        return np.where(rows == scene.islands, NOBODY, rows)[:, :width]


def _ring(scene: Scene, receivers: Islands) -> Islands:
    return np.asarray((receivers - 1) % scene.islands)


def _elite(scene: Scene, receivers: Islands) -> Islands:
    return np.broadcast_to(np.arange(scene.islands), (len(receivers), scene.islands))


def _broadcast(scene: Scene, receivers: Islands) -> Islands:
    drawn = int(scene.draw(_BROADCAST, 1)[0]) * scene.islands >> 64
    return np.full(len(receivers), drawn, np.int64)


def _torus(scene: Scene, receivers: Islands) -> Islands:
    # Each row continues in the next, and the last in the first, so any number of islands will do.
    row = max(1, isqrt(scene.islands))
    return np.asarray((receivers[:, None] + np.array([-row, -1, 1, row])) % scene.islands)


def _hypercube(scene: Scene, receivers: Islands) -> Islands:
    bits = 1 << np.arange(max(1, (scene.islands - 1).bit_length()), dtype=np.int64)
    across = receivers[:, None] ^ bits
    return np.where(across < scene.islands, across, NOBODY)


def _random(scene: Scene, receivers: Islands) -> Islands:
    # A ring in random order: each island sends to one other island.
    order = np.argsort(scene.draw(_RANDOM, scene.islands), kind="stable")
    previous = np.empty(scene.islands, np.int64)
    previous[order] = np.roll(order, 1)
    return previous[receivers]


def _none(scene: Scene, receivers: Islands) -> Islands:
    return np.empty((len(receivers), 0), np.int64)


TOPOLOGIES: dict[str, Topology] = {
    # An island sends to its successor.
    "ring": _BuiltIn(_ring),
    # An island sends to all others, as in BRKGA.
    "elite": _BuiltIn(_elite, from_all=True),
    # A random island sends to all others.
    "broadcast": _BuiltIn(_broadcast, changes=True, sends_once=True),
    # An island sends to four neighbours, in rows of about the square root of the islands.
    "torus": _BuiltIn(_torus),
    # An island sends to those whose number differs in one bit.
    "hypercube": _BuiltIn(_hypercube),
    # An island sends to one other, in a ring of random order.
    "random": _BuiltIn(_random, changes=True, sends_once=True),
    "none": _BuiltIn(_none),
}
for _name, _topology in TOPOLOGIES.items():
    _topology.name = _name

KIND = PartKind("topology", Topology, TOPOLOGIES, TOPOLOGIES.values(), needs=(), is_made=True)
