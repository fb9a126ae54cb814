"""Where a run takes place: its ranks, their devices, and the road between them."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from islands.archipelago import Archipelago
from islands.backends import choose, takes_gpu
from islands.backends.base import Backend
from islands.backends.gpus import assigned
from islands.parallel import World


@dataclass(frozen=True)
class Conduct:
    """How ranks go about a run; it is told anew at each start."""

    share_gpu: bool = False
    """Whether several may take the same GPU."""
    asynchronous: bool = False
    """Whether they do not wait for each other, so that no two runs are the same."""


@dataclass(frozen=True)
class Machine:
    """What all ranks together run on, in words."""

    ranks: int
    backend: str
    device: str
    reason: str
    """Why this backend was chosen."""
    road: str
    compile_seconds: float
    """Of the slowest rank."""

    @classmethod
    def of(cls, world: World, backend: Backend, archipelago: Archipelago) -> Self:
        """Return the machine of a run, the same on every rank; collective."""
        own = (
            backend.name,
            backend.device,
            backend.reason,
            archipelago.road,
            archipelago.compile_seconds,
        )
        names, devices, reasons, roads, seconds = zip(*world.allgather(own), strict=True)
        return cls(
            world.size, _once(names), _counted(devices), _once(reasons), _once(roads), max(seconds)
        )


def take_device(
    world: World, name: str, threads: int | None = None, *, share_gpu: bool = False
) -> Backend:
    """Return the backend of this name on the device that this rank takes; collective."""
    visible = world.agreed(lambda: _visible(name))
    everyone = world.local_allgather(visible)

    def chosen() -> Backend:
        if not visible:
            return choose(name, threads, sharers=world.local_size)
        numbers = assigned([each for each in everyone if each], platform.node(), share=share_gpu)
        place = sum(bool(each) for each in everyone[: world.local_rank])
        return choose(name, threads, numbers[place], world.local_size)

    return world.agreed(chosen)


def _visible(name: str) -> list[str]:
    """Return the GPUs that this rank may take; none where it is to use the CPU."""
    if not takes_gpu(name):
        return []
    from islands.backends.cuda import identities

    return identities()


def _once(words: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(words))


def _counted(words: Iterable[str]) -> str:
    counts = Counter(words)
    return ", ".join(word if many == 1 else f"{many} x {word}" for word, many in counts.items())
