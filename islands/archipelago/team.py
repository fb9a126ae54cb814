"""Ranks that share islands: each creates the individuals of some slots, then they exchange them.

Every member has a copy of the islands. Random numbers depend on the slot only, so the data of all
members are bit-identical to those of a single rank.
"""

import time
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.algorithms import Algorithm
from islands.algorithms.base import TeamExchanges
from islands.backends.base import Array, Backend
from islands.backends.state import IslandArrays
from islands.migration.repeated import RepeatedExchange
from islands.migration.route import Parcel
from islands.migration.transport import Transport
from islands.parallel import World

_RANKING = "order"  # not exchanged: each member derives it from the costs
_TURN, _TURNS = 6, 4
"""The length of a turn of a trial, in generations, and the number of turns. The work is shared in
all generations of a turn, or in none; the first generation is not timed."""


def divided(population: int, members: int, copied: int = 0) -> list[range]:
    """Return the slots of each member, in equal shares.

    The first `copied` slots take no time, so the first member has them in addition to its share.
    """
    rest = population - copied
    ends = [0, *(copied + -(-rest * number // members) for number in range(1, members + 1))]
    return [range(first, end) for first, end in pairwise(ends)]


class Team:
    """The ranks that share the work on islands, as seen by one of them."""

    def __init__(
        self,
        world: World,
        backend: Backend,
        transport: type[Transport] | None,
        slots: list[range],
        first: list[range],
    ) -> None:
        """Take the `slots` of each member, and those for generation 0 (`first`).

        `world` consists of the members.
        """
        self.world, self.backend, self._transport = world, backend, transport
        self.slots_by_member, self.first = slots, first

    @property
    def slots(self) -> range:
        """The slots whose individuals this rank creates."""
        return self.slots_by_member[self.world.rank]

    @property
    def working_members(self) -> int:
        """The number of members that have slots."""
        return sum(map(bool, self.slots_by_member))

    def agrees(self, flag: bool) -> bool:
        """Return whether `flag` is true on all members; collective."""
        return not self.world.any(not flag)

    def exchange(self, rows: Sequence[Array], slots: Sequence[range]) -> RepeatedExchange:
        """Return the exchange of arrays with a row per slot, between members with these `slots`.

        Each row comes from the member that creates the slot's individual.
        """
        assert self._transport is not None, "several ranks have a transport"
        local = slots[self.world.rank]
        remote = [(rank, part) for rank, part in enumerate(slots) if rank != self.world.rank]
        sends = [Parcel(rank, local.start, local.stop) for rank, _ in remote if local]
        receives = [Parcel(rank, part.start, part.stop) for rank, part in remote if part]
        exchange = RepeatedExchange(self.world, self.backend, self._transport)
        for array in rows:
            exchange.add(array, sends, receives)
        return exchange


class SlotExchange:
    """Performs the steps of an algorithm in which members of a team exchange individuals."""

    def __init__(
        self, team: Team, algorithm: Algorithm, state: IslandArrays, steps: Iterable[TeamExchanges]
    ) -> None:
        self._team, self._algorithm, self._state = team, algorithm, state
        self._islands = len(state.arrays["island"])
        self._exchanges: dict[tuple[Any, ...], RepeatedExchange] = {}
        for name in {name for step in steps for name in step.fields}:
            if state.fields[name].kind == "scratch":
                # If a generation is abandoned, these arrays are exchanged before they are written.
                state.fill(name)

    def run(self, step: TeamExchanges, generation: int) -> None:
        """Exchange the rows of this generation; collective."""
        are_renewed = self._algorithm.are_renewed(self._read) if step.renewed else []
        usual = step.fields or self._kept()
        fields = [step.renewed if renewed else usual for renewed in are_renewed]
        slots = self._team.first if generation == 0 else self._team.slots_by_member
        exchanges = []
        for island, names in enumerate(fields or [usual] * self._islands):
            key = (*slots, island, names, generation % 2)
            if key not in self._exchanges:
                parts = [self._state.part(name, generation)[island] for name in names]
                self._exchanges[key] = self._team.exchange([*map(_rows, parts)], slots)
            exchanges.append(self._exchanges[key])
        exchanges[0].run(*exchanges[1:])

    @property
    def seconds(self) -> float:
        """The time that exchanges have taken."""
        return sum(exchange.seconds for exchange in self._exchanges.values())

    def _kept(self) -> tuple[str, ...]:
        """Return the kept fields with an entry for each slot."""
        slots = (self._team.slots_by_member[-1].stop,)
        return tuple(
            name
            for name, field in self._state.fields.items()
            if field.kind == "kept" and field.shape[:1] == slots and name != _RANKING
        )

    def _read(self, name: str) -> NDArray[Any]:
        return self._team.backend.download(self._state.arrays[name])


class Trial:
    """Decides in the first generations whether sharing the work is faster than doing all of it.

    In alternate turns, members create only their shares of the individuals, or each creates all of
    them. Either way, all members have the same state.
    """

    def __init__(self, team: Team) -> None:
        self._team = team
        self._made = 0
        self._seconds = {True: 0.0, False: 0.0}
        self._began = 0.0
        self.is_over = False

    @property
    def is_alone(self) -> bool:
        """Whether one member creates all individuals from now on."""
        return self.is_over and not self.is_shared()

    def is_shared(self) -> bool:
        """Return whether the next generation is shared; during the trial, every other turn is."""
        if self.is_over:
            return self._seconds[True] < self._seconds[False]
        return self._made // _TURN % 2 == 0

    def seconds_of(self, *, is_shared: bool) -> float:
        """Return the time of a generation on the slowest member."""
        return self._seconds[is_shared] / (_TURNS // 2 * (_TURN - 1))

    def generation_ended(self) -> None:
        """Time the turn, and decide after the last one; collective."""
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
            numbers = np.array([1e9 * seconds for seconds in self._seconds.values()], np.int64)
            slowest = self._team.world.allgather_numbers(numbers).max(axis=0)
            self._seconds = dict(zip(self._seconds, (1e-9 * slowest).tolist(), strict=True))
            self.is_over = True


def _rows(array: Array) -> Array:
    """Return the entries of an island as rows of bytes."""
    return array.reshape(len(array), -1).view(np.uint8)
