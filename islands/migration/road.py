"""The roads by which migrants travel between ranks. Which one is open is proved, never guessed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from islands.backends.base import Array, Backend
from islands.errors import IslandsError, RunError
from islands.migration.route import Parcel
from islands.parallel import Pending, World

_PROOF_BYTES = 1 << 16


class Road:
    """Carries parcels of one buffer, whose rows are slots, to the same road of other ranks."""

    name: ClassVar[str]

    def __init__(self, world: World, backend: Backend, buffer: Array) -> None:
        self._world, self._backend, self._buffer = world, backend, buffer
        self._receives: Sequence[Parcel] = ()
        self._pending = Pending(world, [])

    def memory(self, parcel: Parcel) -> Array:
        """Return what MPI is to read or write."""
        return self._buffer[parcel.first : parcel.last]

    def leave(self, parcels: Sequence[Parcel]) -> None:
        """Begin to make ready what the device leaves in the buffer."""

    def enter(self, parcels: Sequence[Parcel]) -> None:
        """Put what has arrived into the buffer, for all that is launched from now on."""

    def depart(self, sends: Sequence[Parcel], receives: Sequence[Parcel]) -> None:
        """Begin to carry what was made ready, all of which is done."""
        self._receives = receives
        self._pending = self._world.post(
            [(each.rank, self.memory(each)) for each in sends],
            [(each.rank, self.memory(each)) for each in receives],
        )

    def arrive(self) -> None:
        """Wait until all parcels are there."""
        self._pending.wait()
        self.enter(self._receives)


class Direct(Road):
    """MPI reads and writes the memory of the GPU itself."""

    name = "cuda-aware"


class Bare(Road):
    """The buffer lies in the host's memory anyhow."""

    name = "staged"


class Staged(Road):
    """Through page-locked memory of the host."""

    name = "staged"

    def __init__(self, world: World, backend: Backend, buffer: Array) -> None:
        super().__init__(world, backend, buffer)
        self._stage = backend.host_array(buffer.shape, np.uint8)

    def memory(self, parcel: Parcel) -> Array:
        """Return the part of the host's memory that stands for the parcel."""
        return self._stage[parcel.first : parcel.last]

    def leave(self, parcels: Sequence[Parcel]) -> None:
        """Begin to copy the parcels to the host."""
        for each in parcels:
            self._backend.fetch(self._buffer[each.first : each.last], self.memory(each))

    def enter(self, parcels: Sequence[Parcel]) -> None:
        """Begin to copy the parcels to the device."""
        for each in parcels:
            self._backend.store(self.memory(each), self._buffer[each.first : each.last])


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
        carrier.leave([Parcel(after, 0, 1)])
        backend.synchronise()
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
