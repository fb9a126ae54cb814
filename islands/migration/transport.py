"""The transports of migrants between ranks. Which one is open is proved, never guessed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.backends.base import Array, Backend
from islands.errors import IslandsError, RunError
from islands.migration.route import Parcel
from islands.parallel import Pending, World

_PROOF_BYTES = 1 << 16
_PATIENCE_SECONDS = 20.0
_MIGRANTS = 1
_LEFT_BEHIND: list[Any] = []


class Transport:
    """Carries parcels of one buffer, whose rows are slots, to the same transport of other ranks."""

    name: ClassVar[str]

    def __init__(self, world: World, backend: Backend, buffer: Array, tag: int = _MIGRANTS) -> None:
        self._world, self._backend, self._buffer, self._tag = world, backend, buffer, tag
        self._receives: Sequence[Parcel] = ()
        self._pending = Pending(world)

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
            self._tag,
        )

    def arrive(self, patience: float | None = None) -> bool:
        """Wait until all parcels are there, or at most so many seconds; return whether they are."""
        if patience is None:
            self._pending.wait()
        elif not self._pending.wait_for(patience):
            return False
        self.enter(self._receives)
        return True

    def give_up(self) -> None:
        """Wait no more for what is on its way."""
        self._pending.give_up()


class Direct(Transport):
    """MPI reads and writes the memory of the GPU itself."""

    name = "cuda-aware"


class Bare(Transport):
    """The buffer lies in the host's memory anyhow."""

    name = "staged"


class Staged(Transport):
    """Through page-locked memory of the host."""

    name = "staged"

    def __init__(self, world: World, backend: Backend, buffer: Array, tag: int = _MIGRANTS) -> None:
        super().__init__(world, backend, buffer, tag)
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


def find(world: World, backend: Backend) -> tuple[type[Transport] | None, str]:
    """Return the best transport that works between the ranks, and what fails in better ones.

    Collective. One rank alone needs no transport.
    """
    return (None, "") if world.size == 1 else _proved(world, backend)


def candidates(world: World, backend: Backend) -> list[type[Transport]]:
    """Return the transports worth trying between these ranks, the best first; collective."""
    own: type[Transport] = Bare if backend.in_host_memory else Staged
    aware = world.takes_gpu_memory() and not world.any(backend.in_host_memory)
    return [Direct, own] if aware else [own]


def _proved(world: World, backend: Backend) -> tuple[type[Transport], str]:
    failed = ""
    for transport in candidates(world, backend):
        trouble = trial(transport, world, backend, _PROOF_BYTES)
        if not trouble:
            return transport, failed
        failed += f"the transport {transport.name} failed its trial ({trouble}). "
    raise RunError(f"no transport between the ranks: {failed}Run `islands doctor` under mpirun")


def trial(transport: type[Transport], world: World, backend: Backend, size: int) -> str:
    """Send a known message round the ring of ranks; return what goes wrong, the same on all.

    Collective; it ends even where the transport fails on some ranks alone.
    """
    own = _Trial(transport, world, backend, size)
    for step in (own.prepare, own.post, own.receive, own.check):
        try:
            trouble = step()
        except IslandsError:
            raise
        except Exception as error:
            trouble = f"{type(error).__name__}: {error}"
        # Nobody waits for a message before everybody has sent.
        troubles = world.allgather(trouble)
        if any(troubles):
            own.give_up()
            return next(f"rank {rank}: {each}" for rank, each in enumerate(troubles) if each)
    return ""


class _Trial:
    """The trial of a transport on one rank, in steps that say what went wrong."""

    def __init__(
        self, transport: type[Transport], world: World, backend: Backend, size: int
    ) -> None:
        self._transport, self._world, self._backend, self._size = transport, world, backend, size
        self._carrier: Transport | None = None

    def prepare(self) -> str:
        """Fill a buffer with what this rank sends."""
        rank, size = self._world.rank, self._world.size
        self._before = (rank - 1) % size
        self._sends = [Parcel((rank + 1) % size, 0, 1)]
        pattern = _pattern(rank, self._size)
        buffer = self._backend.upload(np.stack([pattern, np.zeros(self._size, np.uint8)]))
        self._buffer = buffer
        self._carrier = self._transport(self._world, self._backend, buffer, self._world.new_tag())
        self._carrier.leave(self._sends)
        self._backend.synchronise()
        return ""

    def post(self) -> str:
        """Begin to send and to receive."""
        assert self._carrier is not None, "it was prepared"
        self._carrier.depart(self._sends, [Parcel(self._before, 1, 2)])
        return ""

    def receive(self) -> str:
        """Wait for the message, but not for ever."""
        assert self._carrier is not None, "it was prepared"
        has_come = self._carrier.arrive(_PATIENCE_SECONDS)
        return "" if has_come else f"nothing came in {_PATIENCE_SECONDS:g} s"

    def check(self) -> str:
        """Compare what came with what was sent."""
        came = self._backend.download(self._buffer)[1]
        is_same = np.array_equal(came, _pattern(self._before, self._size))
        return "" if is_same else "it changed what was sent"

    def give_up(self) -> None:
        """Leave messages that never came; what was sent may be read much later."""
        _LEFT_BEHIND.append(self)
        if self._carrier is not None:
            self._carrier.give_up()


def _pattern(rank: int, size: int) -> NDArray[np.uint8]:
    return np.random.default_rng(rank).integers(0, 256, size, np.uint8)
