from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from islands.backends import choose
from islands.backends.base import Backend
from islands.errors import RunError
from islands.migration import transport as module
from islands.migration.route import Parcel
from islands.migration.transport import Direct, InHostMemory, Staged, candidates, find
from islands.parallel import world


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("kind", [InHostMemory, Staged, Direct])
def test_parcels_of_different_sizes_reach_every_rank(
    backend: Backend, kind: type[module.Transport]
) -> None:
    ranks = world()
    if kind not in {*candidates(ranks, backend), Staged}:
        pytest.skip(
            f"the MPI between these ranks does not accept arrays of {backend.name} directly"
        )
    size, width = ranks.size, 100_000
    others = [rank for rank in range(size) if rank != ranks.rank]

    def content(sender: int, receiver: int) -> np.ndarray:
        return np.random.default_rng([sender, receiver]).integers(
            0, 256, (receiver + 1, width), np.uint8
        )

    sends, receives, rows, first = [], [], [], 0
    for rank in others:
        rows.append(content(ranks.rank, rank))
        sends.append(Parcel(rank, first, first + rank + 1))
        first += rank + 1
    for rank in others:
        receives.append(Parcel(rank, first, first + ranks.rank + 1))
        first += ranks.rank + 1
    space = np.zeros((len(others) * (ranks.rank + 1), width), np.uint8)
    buffer = backend.upload(np.concatenate([*rows, space]))
    transport = kind(ranks, backend, buffer)
    for _ in range(2):
        transport.stage(sends)
        backend.synchronise()
        transport.start(sends, receives)
        transport.wait()
    for parcel in receives:
        arrived = backend.download(buffer)[parcel.first : parcel.last]
        assert np.array_equal(arrived, content(parcel.rank, ranks.rank))


class Corrupting(InHostMemory):
    """Changes one bit of a message on rank 0."""

    name = "corrupting"

    def wait(self, timeout: float | None = None) -> bool:
        has_arrived = super().wait(timeout)
        if self._world.rank == 0:
            self._buffer[1, 5] ^= 1
        return has_arrived


class Failing(Direct):
    """Cannot send or receive."""

    name = "failing"

    def start(self, sends: Sequence[Parcel], receives: Sequence[Parcel]) -> None:
        raise OSError("no connection")


class ReceiveOnly(Direct):
    """Begins to receive, and then cannot send."""

    name = "receive-only"

    def start(self, sends: Sequence[Parcel], receives: Sequence[Parcel]) -> None:
        self._world.post([], [(each.rank, self.memory(each)) for each in receives], self._tag)
        super().start([Parcel(-7, 0, 1)], [])


class OneSided(Direct):
    """Fails on one rank only."""

    name = "one-sided"

    def start(self, sends: Sequence[Parcel], receives: Sequence[Parcel]) -> None:
        if self._world.rank == 1:
            raise OSError("no connection")
        super().start(sends, receives)


class SendOnly(Direct):
    """Never receives."""

    name = "send-only"

    def start(self, sends: Sequence[Parcel], receives: Sequence[Parcel]) -> None:
        super().start([], receives)


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (Corrupting, "rank 0: the message changed on its way"),
        (Failing, "rank 0: OSError: no connection"),
        (ReceiveOnly, "rank 0: Exception: MPI_ERR_RANK: invalid rank"),
        (OneSided, "rank 1: OSError: no connection"),
        (SendOnly, "rank 0: no message arrived in 0.2 s"),
    ],
)
def test_a_transport_that_fails_its_trial_is_skipped(
    kind: type[module.Transport], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranks, backend = world(), choose("cpu", 1)
    monkeypatch.setattr(module, "_TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr(module, "candidates", lambda *_: [kind, Staged])
    transport, trouble = find(ranks, backend)
    assert transport is Staged
    assert trouble == f"the transport {kind.name} failed its trial ({reason}). "
    monkeypatch.setattr(module, "candidates", lambda *_: [kind])
    with pytest.raises(RunError, match=r"no transport works between the ranks: .*`islands doctor`"):
        find(ranks, backend)


@pytest.mark.mpi(min_size=3)
def test_trials_between_some_ranks_do_not_disturb_trials_of_all() -> None:
    ranks, backend = world(), choose("cpu", 1)
    part = ranks.part(2)
    if part is not None:
        assert find(part, backend) == (InHostMemory, "")
    assert find(ranks, backend) == (InHostMemory, "")
