"""Transports of migrants between ranks, and a trial of whether they work."""

from collections.abc import Generator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.backends.base import Array, Backend
from islands.errors import IslandsError, RunError
from islands.migration.route import Parcel
from islands.parallel import Pending, World

_TRIAL_BYTES = 1 << 16
_TIMEOUT_SECONDS = 20.0
_MIGRANTS_TAG = 1
_ABANDONED: list[Any] = []
"""The transports of failed trials, which are kept as MPI may still read their buffers."""


class Transport:
    """Sends parcels of a buffer, whose rows are slots, to other ranks, and receives theirs."""

    name: ClassVar[str]

    def __init__(
        self, world: World, backend: Backend, buffer: Array, tag: int = _MIGRANTS_TAG
    ) -> None:
        self._world, self._backend, self._buffer, self._tag = world, backend, buffer, tag
        self._receives: Sequence[Parcel] = ()
        self._pending = Pending()

    def memory(self, parcel: Parcel) -> Array:
        """Return the memory of a parcel that MPI reads or writes."""
        return self._buffer[parcel.first : parcel.last]

    def stage(self, parcels: Sequence[Parcel]) -> None:
        """Begin to copy parcels from the buffer to the memory that MPI reads."""

    def unstage(self, parcels: Sequence[Parcel]) -> None:
        """Begin to copy received parcels to the buffer, before any later launch."""

    def start(self, sends: Sequence[Parcel], receives: Sequence[Parcel]) -> None:
        """Begin to send parcels that have been staged, and to receive others."""
        self._receives = receives
        self._pending = self._world.post(
            [(parcel.rank, self.memory(parcel)) for parcel in sends],
            [(parcel.rank, self.memory(parcel)) for parcel in receives],
            self._tag,
        )

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for all parcels, at most `timeout` seconds; return whether they have arrived."""
        if timeout is None:
            self._pending.wait()
        elif not self._pending.wait_for(timeout):
            return False
        self.unstage(self._receives)
        return True

    def cancel(self) -> None:
        """Cancel receives that are still pending."""
        self._pending.cancel()


class Direct(Transport):
    """Transport by CUDA-aware MPI, which reads and writes the GPU's memory."""

    name = "cuda-aware"


class InHostMemory(Transport):
    """Transport of a buffer in host memory, where MPI reads and writes it."""

    name = "staged"


class Staged(Transport):
    """Transport of a buffer on a GPU through copies in page-locked host memory."""

    name = "staged"

    def __init__(
        self, world: World, backend: Backend, buffer: Array, tag: int = _MIGRANTS_TAG
    ) -> None:
        super().__init__(world, backend, buffer, tag)
        self._stage = backend.host_array(buffer.shape, np.uint8)

    def memory(self, parcel: Parcel) -> Array:
        """Return the host memory that the parcel is copied through."""
        return self._stage[parcel.first : parcel.last]

    def stage(self, parcels: Sequence[Parcel]) -> None:
        """Begin to copy the parcels to the host."""
        # Several ranks may receive the same rows.
        for parcel in {(parcel.first, parcel.last): parcel for parcel in parcels}.values():
            self._backend.fetch(self._buffer[parcel.first : parcel.last], self.memory(parcel))

    def unstage(self, parcels: Sequence[Parcel]) -> None:
        """Begin to copy the parcels to the device."""
        for parcel in parcels:
            self._backend.store(self.memory(parcel), self._buffer[parcel.first : parcel.last])


def find(world: World, backend: Backend) -> tuple[type[Transport] | None, str]:
    """Return the first transport that works between the ranks, and why better ones failed.

    Collective. A single rank needs no transport.
    """
    if world.size == 1:
        return None, ""
    failed = ""
    for transport in candidates(world, backend):
        error = trial(transport, world, backend, _TRIAL_BYTES)
        if not error:
            return transport, failed
        failed += f"the transport {transport.name} failed its trial ({error}). "
    raise RunError(
        f"no transport works between the ranks: {failed}Run `islands doctor` under mpirun"
    )


def candidates(world: World, backend: Backend) -> list[type[Transport]]:
    """Return the transports that may work between these ranks, best first; collective."""
    staged: type[Transport] = InHostMemory if backend.in_host_memory else Staged
    aware = world.takes_gpu_memory() and not world.any(backend.in_host_memory)
    return [Direct, staged] if aware else [staged]


def trial(transport: type[Transport], world: World, backend: Backend, size: int) -> str:
    """Send a known message to the next rank; return the first error, the same on all ranks.

    Collective; it ends even if the transport fails on only some ranks.
    """
    steps = _steps(transport, world, backend, size)
    while True:
        try:
            failure = next(steps, None)
        except IslandsError:
            raise
        except Exception as error:
            failure = f"{type(error).__name__}: {error}"
        if failure is None:
            return ""
        # No rank waits for a message before all ranks have sent.
        failures = world.allgather(failure)
        if any(failures):
            steps.close()
            return next(f"rank {rank}: {error}" for rank, error in enumerate(failures) if error)


def _steps(
    transport: type[Transport], world: World, backend: Backend, size: int
) -> Generator[str, None, None]:
    """Perform the steps of a trial on this rank; yield an error or "" after each."""
    previous, following = (world.rank - 1) % world.size, (world.rank + 1) % world.size
    pattern = np.stack([_pattern(world.rank, size), np.zeros(size, np.uint8)])
    buffer = backend.upload(pattern)
    carrier = transport(world, backend, buffer, world.new_tag())
    try:
        sends = [Parcel(following, 0, 1)]
        carrier.stage(sends)
        backend.synchronise()
        yield ""
        carrier.start(sends, [Parcel(previous, 1, 2)])
        yield ""
        has_arrived = carrier.wait(_TIMEOUT_SECONDS)
        yield "" if has_arrived else f"no message arrived in {_TIMEOUT_SECONDS:g} s"
        is_same = np.array_equal(backend.download(buffer)[1], _pattern(previous, size))
        yield "" if is_same else "the message changed on its way"
    except BaseException:  # including a failure of another rank
        _ABANDONED.append(carrier)  # MPI may read its buffer much later
        carrier.cancel()
        raise


def _pattern(rank: int, size: int) -> NDArray[np.uint8]:
    return np.random.default_rng(rank).integers(0, 256, size, np.uint8)
