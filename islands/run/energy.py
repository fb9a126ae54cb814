"""The energy of all GPUs of a run."""

from __future__ import annotations

from islands.backends.base import Backend
from islands.parallel import World


class EnergyMeter:
    """Measures the energy of the devices of all ranks from its creation on."""

    def __init__(self, backend: Backend | None, world: World) -> None:
        self._backend, self._world = backend, world
        self._before = self._joules()

    def shared(self) -> float | None:
        """Return the energy in joules, or None if it is unknown for any rank; collective.

        Ranks on the same GPU count it once.
        """
        now = self._joules()
        spent = None if now is None or self._before is None else now - self._before
        device = "" if self._backend is None else self._backend.identity
        everyone = dict(self._world.allgather((device, spent)))
        known = [each for each in everyone.values() if each is not None]
        return sum(known) if len(known) == len(everyone) else None

    def _joules(self) -> float | None:
        return None if self._backend is None else self._backend.joules()
