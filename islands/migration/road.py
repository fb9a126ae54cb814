"""The roads by which migrants travel between ranks. Which one is open is proved, never guessed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from islands.backends.base import Array, Backend
from islands.errors import IslandsError, RunError
from islands.migration.route import Parcel
from islands.parallel import Pending, World

_PROOF_BYTES = 1 << 16


class Road(ABC):
    """Carries parcels of one buffer, whose rows are slots, to the same road of other ranks."""

    name: ClassVar[str]

    def __init__(self, world: World, backend: Backend, buffer: Array) -> None:
        self._world, self._backend, self._buffer = world, backend, buffer

    @abstractmethod
    def depart(self, sends: Sequence[Parcel], receives: Sequence[Parcel]) -> None:
        """Begin to carry what the device, which is done, has left in the buffer."""

    @abstractmethod
    def arrive(self) -> None:
        """Wait until all parcels are there, for all that is launched from now on."""


class Direct(Road):
    """MPI takes the buffer as it is: in the memory of a GPU, or the CPU's."""

    name = "cuda-aware"

    def depart(self, sends: Sequence[Parcel], receives: Sequence[Parcel]) -> None:
        """Let MPI read and write the buffer itself."""
        self._pending = self._world.post(
            [(each.rank, self._buffer[each.first : each.last]) for each in sends],
            [(each.rank, self._buffer[each.first : each.last]) for each in receives],
        )

    def arrive(self) -> None:
        """Wait for MPI."""
        self._pending.wait()


class Staged(Road):
    """Through page-locked memory of the host, in copies that the host does not wait for."""

    name = "staged"

    def __init__(self, world: World, backend: Backend, buffer: Array) -> None:
        super().__init__(world, backend, buffer)
        self._stage = backend.host_array(buffer.shape, np.uint8)
        self._receives: Sequence[Parcel] = ()
        self._pending = Pending(world, [])

    def depart(self, sends: Sequence[Parcel], receives: Sequence[Parcel]) -> None:
        """Copy what leaves to the host, and let MPI send it from there."""
        if sends:
            first, last = sends[0].first, sends[-1].last
            self._backend.fetch(self._buffer[first:last], self._stage[first:last])
            self._backend.synchronise()
        self._receives = receives
        self._pending = self._world.post(
            [(each.rank, self._stage[each.first : each.last]) for each in sends],
            [(each.rank, self._stage[each.first : each.last]) for each in receives],
        )

    def arrive(self) -> None:
        """Wait for MPI, and begin to copy what came to the device."""
        self._pending.wait()
        if self._receives:
            first, last = self._receives[0].first, self._receives[-1].last
            self._backend.store(self._stage[first:last], self._buffer[first:last])


class Bare(Direct):
    """The buffer lies in the host's memory anyhow."""

    name = "staged"


ROADS: dict[str, type[Road]] = {"cuda-aware": Direct, "staged": Staged}


def find(world: World, backend: Backend) -> tuple[type[Road] | None, str]:
    """Return the best road that is open between the ranks, and what was wrong with better ones.

    Collective. One rank alone needs no road.
    """
    return (None, "") if world.size == 1 else _proved(world, backend)


def candidates(world: World, backend: Backend) -> list[type[Road]]:
    """Return the roads worth trying between these ranks, the best first; collective."""
    own: type[Road] = Bare if backend.in_host_memory else Staged
    aware = world.takes_gpu_memory() and not world.any(backend.in_host_memory)
    return [Direct, own] if aware else [own]


def _proved(world: World, backend: Backend) -> tuple[type[Road], str]:
    """Return the best road on which a checked message passes, and what failed; collective."""
    failed = ""
    for road in candidates(world, backend):
        trouble = world.allgather(_trouble(road, world, backend))
        if not any(trouble):
            return road, failed
        first = next(each for each in trouble if each)
        failed += f"the road {road.name} failed its trial ({first}). "
    raise RunError(f"no road between the ranks: {failed}Run `islands doctor` under mpirun")


def _trouble(road: type[Road], world: World, backend: Backend) -> str:
    """Send a known message round the ring of ranks; return what is wrong with what arrives."""
    after, before = (world.rank + 1) % world.size, (world.rank - 1) % world.size
    buffer = backend.upload(np.stack([_pattern(world.rank), np.zeros(_PROOF_BYTES, np.uint8)]))
    try:
        carrier = road(world, backend, buffer)
        carrier.depart([Parcel(after, 0, 1)], [Parcel(before, 1, 2)])
        carrier.arrive()
    except IslandsError:
        raise
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    arrived: Any = backend.download(buffer)[1]
    return "" if np.array_equal(arrived, _pattern(before)) else "it changed what was sent"


def _pattern(rank: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.random.default_rng(rank).integers(0, 256, _PROOF_BYTES, np.uint8)
