"""The machine that all ranks run on, the time of each phase of a run, and the energy of GPUs."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.parallel import World

GENERATIONS, MIGRATION, RANKS = "generations", "migration", "other ranks"
TEAM = "team"  # the exchange between ranks that share an island, including waits
RECORDS, CHECKPOINTS, CALLBACK = "records", "checkpoints", "callback"
PHASES = (GENERATIONS, TEAM, MIGRATION, RANKS, RECORDS, CHECKPOINTS, CALLBACK)


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
    compiles: bool
    """Whether a rank has compiled programs; otherwise all were in the cache."""

    @classmethod
    def of(cls, world: World, backend: Backend, archipelago: Archipelago) -> Self:
        """Return the machine of a run, the same on every rank; collective."""
        facts = (
            backend.name,
            backend.device,
            backend.reason,
            archipelago.transport,
            backend.compile_seconds,
            backend.compiling.was_needed,
        )
        columns = zip(*world.allgather(facts), strict=True)
        names, devices, reasons, transports, seconds, compiles = columns
        return cls(
            world.size,
            _once(names),
            _counted(devices),
            _once(reasons),
            _once(transports),
            max(seconds),
            any(compiles),
        )


def _once(words: Iterable[str]) -> str:
    return ", ".join(filter(None, dict.fromkeys(words)))


def _counted(words: Iterable[str]) -> str:
    counts = Counter(words)
    return ", ".join(word if many == 1 else f"{many} x {word}" for word, many in counts.items())


class Stopwatch:
    """A stopwatch that is cheap enough for every epoch: each lap ends a phase.

    It measures the host, which waits for a GPU only when it needs a result: a phase that waits
    for a result includes the generations before it.
    """

    def __init__(self) -> None:
        """Begin the first lap."""
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self._began = time.perf_counter()

    def lap(self, phase: str) -> None:
        """Add the time since the previous lap to a phase."""
        now = time.perf_counter()
        self.seconds[phase] += now - self._began
        self._began = now


def with_team(phases: Mapping[str, float], seconds: float) -> dict[str, float]:
    """Return the phases with the seconds of the team's exchange moved out of `GENERATIONS`."""
    return {**phases, GENERATIONS: phases[GENERATIONS] - seconds, TEAM: seconds}


class EnergyMeter:
    """Measures the energy that the devices of all ranks have used since its creation."""

    def __init__(self, backend: Backend, world: World) -> None:
        self._backend, self._world, self._before = backend, world, backend.joules()

    def of_all_ranks(self) -> float | None:
        """Return the energy in joules, or None if it is unknown for any rank; collective.

        A GPU that several ranks use counts once.
        """
        now = self._backend.joules()
        spent = None if now is None or self._before is None else now - self._before
        by_device = dict(self._world.allgather((self._backend.identity, spent)))
        known = [energy for energy in by_device.values() if energy is not None]
        return sum(known) if len(known) == len(by_device) else None
