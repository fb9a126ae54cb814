"""Ranks that share islands: each makes the individuals of some slots, and all exchange them.

Every member has a copy of the islands, and random numbers depend on the slot alone, so that all of
them, and a single rank, have the same bits.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.algorithms import Algorithm
from islands.algorithms.base import TeamExchanges
from islands.backends.base import Array, Backend
from islands.backends.state import State
from islands.migration.repeated import RepeatedExchange
from islands.migration.route import Parcel
from islands.migration.transport import Transport
from islands.parallel import World

_RANKING = "order"  # follows from the costs
_TURN, _TURNS = 6, 4
"""Generations in a row that are shared or not, of which the first is not measured; and turns."""


def divided(population: int, members: int, copied: int = 0) -> list[range]:
    """Return the slots of each member: equally many, but for the first, which are only copied.

    These take no time, so that the first member has them besides its share.
    """
    made = population - copied
    ends = [0, *(copied + -(-made * number // members) for number in range(1, members + 1))]
    return [range(first, end) for first, end in pairwise(ends)]


class Team:
    """The ranks that share the work on islands, on one of them."""

    def __init__(
        self,
        world: World,
        backend: Backend,
        transport: type[Transport] | None,
        slots: list[range],
        first: list[range],
    ) -> None:
        """`world` has the members only; `slots` are those of each, and `first` in generation 0."""
        self.world, self.backend, self._transport = world, backend, transport
        self.slots_of_each, self.first = slots, first
        self.all_slots = range(slots[-1].stop)
        """The slots of an island."""

    @property
    def slots(self) -> range:
        """The slots whose individuals this rank makes."""
        return self.slots_of_each[self.world.rank]

    @property
    def at_work(self) -> int:
        """The number of members that have any slots."""
        return sum(bool(each) for each in self.slots_of_each)

    def agrees(self, flag: bool) -> bool:
        """Return whether `flag` is true on all members; collective."""
        return not self.world.any(not flag)

    def exchange(self, rows: Sequence[Array], slots: Sequence[range]) -> RepeatedExchange:
        """Return the exchange of arrays with a row for each slot, each from the member that has it.

        `slots` are those of each member.
        """
        assert self._transport is not None, "several ranks have found a transport"
        rank, own = self.world.rank, slots[self.world.rank]
        others = [(number, each) for number, each in enumerate(slots) if number != rank]
        sends = [Parcel(number, own.start, own.stop) for number, _ in others if own]
        receives = [Parcel(number, each.start, each.stop) for number, each in others if each]
        exchange = RepeatedExchange(self.world, self.backend, self._transport)
        for each in rows:
            exchange.add(each, sends, receives)
        return exchange


class Sharing:
    """The steps of an algorithm in which a team exchanges what its members have made."""

    def __init__(
        self, team: Team, algorithm: Algorithm, state: State, steps: Iterable[TeamExchanges]
    ) -> None:
        self._team, self._algorithm, self._state = team, algorithm, state
        self._islands = len(state.arrays["island"])
        self._exchanges: dict[tuple[Any, ...], RepeatedExchange] = {}
        for name in {name for step in steps for name in step.fields}:
            if state.fields[name].kind == "scratch":
                # Members that abandon a generation exchange what is there.
                state.fill(name)

    def run(self, step: TeamExchanges, generation: int) -> None:
        """Exchange the rows of the generation that the members have made; collective."""
        are_renewed = self._algorithm.are_renewed(self._read) if step.renewed else []
        usual = step.fields or self._kept()
        names = [step.renewed if each else usual for each in are_renewed] or [usual] * self._islands
        slots = self._team.first if generation == 0 else self._team.slots_of_each
        found = []
        for island, own in enumerate(names):
            key = (*slots, island, own, generation % 2)
            if key not in self._exchanges:
                parts = [self._state.part(name, generation)[island] for name in own]
                self._exchanges[key] = self._team.exchange([*map(_rows, parts)], slots)
            found.append(self._exchanges[key])
        found[0].run(*found[1:])

    @property
    def seconds(self) -> float:
        """The time that exchanges have taken."""
        return sum(each.seconds for each in self._exchanges.values())

    def _kept(self) -> tuple[str, ...]:
        """Return the kept fields with an entry for each slot."""
        population = len(self._team.all_slots)
        return tuple(
            name
            for name, each in self._state.fields.items()
            if each.kind == "kept" and each.shape[:1] == (population,) and name != _RANKING
        )

    def _read(self, name: str) -> NDArray[Any]:
        return self._team.backend.download(self._state.arrays[name])


class Trial:
    """Finds out in the first generations whether a team shares them, or one member makes them all.

    All members make all individuals meanwhile, or their shares, so that each has the same state.
    """

    def __init__(self, team: Team) -> None:
        self._team = team
        self._made = 0
        self._seconds = {True: 0.0, False: 0.0}
        self._began = 0.0
        self.is_over = False

    @property
    def is_alone(self) -> bool:
        """Whether only one member makes individuals from now on."""
        return self.is_over and not self.is_shared()

    def is_shared(self) -> bool:
        """Return whether the next generation is shared, in turns of some generations."""
        if self.is_over:
            return self._seconds[True] < self._seconds[False]
        return self._made // _TURN % 2 == 0

    def seconds_of(self, *, is_shared: bool) -> float:
        """Return the time of a generation, measured on the slowest member."""
        return self._seconds[is_shared] / (_TURNS // 2 * (_TURN - 1))

    def generation_ended(self) -> None:
        """Measure a turn, and decide after the last one; collective."""
        if self.is_over:
            return
        if self._made % _TURN == 0:  # after the first generation of a turn
            self._team.backend.synchronise()
            self._began = time.perf_counter()
        self._made += 1
        if self._made % _TURN == 0:
            self._team.backend.synchronise()
            was_shared = self._made // _TURN % 2 == 1
            self._seconds[was_shared] += time.perf_counter() - self._began
        if self._made == _TURNS * _TURN:
            numbers = np.array([1e9 * each for each in self._seconds.values()], np.int64)
            slowest = self._team.world.allgather_numbers(numbers).max(axis=0)
            self._seconds = dict(zip(self._seconds, (1e-9 * slowest).tolist(), strict=True))
            self.is_over = True


def _rows(array: Array) -> Array:
    """Return the entries of an island as rows of bytes."""
    return array.reshape(len(array), -1).view(np.uint8)
