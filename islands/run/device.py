"""Select the device of a rank, and how ranks cooperate in a run."""

from __future__ import annotations

import platform
from dataclasses import dataclass

from islands.backends import choose, takes_gpu
from islands.backends.base import Backend
from islands.backends.gpus import assigned
from islands.parallel import World


@dataclass(frozen=True)
class RankOptions:
    """How ranks cooperate in a run; chosen anew at each start."""

    share_gpu: bool = False
    """Whether several ranks may use the same GPU."""
    asynchronous: bool = False
    """Whether ranks do not wait for each other, so that a run cannot be repeated exactly."""


def take_device(
    world: World, name: str, threads: int | None = None, *, share_gpu: bool = False
) -> Backend:
    """Return the backend `name` on the device of this rank; collective."""
    visible = world.run_on_all(lambda: _visible(name))
    everyone = world.local_allgather(visible)

    def chosen() -> Backend:
        if not visible:
            return choose(name, threads, sharers=world.local_size)
        numbers = assigned([each for each in everyone if each], platform.node(), share=share_gpu)
        used = [each[number] for each, number in zip(filter(None, everyone), numbers, strict=True)]
        place = sum(bool(each) for each in everyone[: world.local_rank])
        return choose(name, threads, numbers[place], used.count(used[place]))

    return world.run_on_all(chosen)


def block_memory(name: str) -> int | None:
    """Return the bytes of fast memory of a block on the GPU that has most; None on a CPU."""
    if not takes_gpu(name):
        return None
    from islands.backends.gpus import block_memory, devices

    return max(map(block_memory, range(devices())), default=None)


def _visible(name: str) -> list[str]:
    """Return the GPUs that this rank may use; empty if it uses the CPU."""
    if not takes_gpu(name):
        return []
    from islands.backends.gpus import identities

    return identities()
