"""Describe the machine of all ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.parallel import World


@dataclass(frozen=True)
class Machine:
    """A description of the machine that all ranks run on."""

    ranks: int
    backend: str
    device: str
    reason: str
    """Why this backend was chosen."""
    transport: str
    compile_seconds: float
    """The time of the slowest rank."""

    @classmethod
    def of(cls, world: World, backend: Backend, archipelago: Archipelago) -> Self:
        """Return the machine of a run, the same on every rank; collective."""
        own = (
            backend.name,
            backend.device,
            backend.reason,
            archipelago.transport,
            backend.compile_seconds,
        )
        names, devices, reasons, transports, seconds = zip(*world.allgather(own), strict=True)
        return cls(
            world.size,
            _once(names),
            _counted(devices),
            _once(reasons),
            _once(transports),
            max(seconds),
        )


def _once(words: Iterable[str]) -> str:
    return ", ".join(filter(None, dict.fromkeys(words)))


def _counted(words: Iterable[str]) -> str:
    counts = Counter(words)
    return ", ".join(word if many == 1 else f"{many} x {word}" for word, many in counts.items())
