"""Runs generations: launches, with host evaluation and the halo exchange between them."""

from __future__ import annotations

from islands.archipelago.halt import Halt
from islands.archipelago.launches import Launches, Segments
from islands.archipelago.outside import Outside
from islands.backends.base import Backend
from islands.backends.state import State
from islands.migration.halo import Halo


class Generations:
    """Advances all islands of a rank from one generation to the next."""

    def __init__(
        self,
        backend: Backend,
        launches: Launches,
        state: State,
        halt: Halt,
        *,
        outside: Outside | None,
        halo: Halo | None,
    ) -> None:
        """Take the launches; `outside` evaluates on the host, `halo` joins neighbouring islands."""
        self._backend, self._launches, self._state, self._halt = backend, launches, state, halt
        self._outside, self._halo = outside, halo

    def start(self) -> None:
        """Make and evaluate generation 0; its order and derived fields are not yet up to date."""
        self._run(self._launches.start)

    def advance(self, count: int) -> None:
        """Run `count` generations; only host evaluation and the halo wait for the device."""
        if self._outside is not None:
            for _ in range(count):
                self._run(self._launches.generation)
                self.renew_halo()
        else:
            (generation,) = self._launches.generation
            if self._halo is not None:
                self._halo.advance(generation, count)
            else:
                self._backend.run(generation, count)
        if count and not self._launches.keeps_order:
            self.sort()

    def sort(self) -> None:
        """Sort the individuals of each island by cost."""
        self._backend.run([self._launches.rank_again])

    def derive(self, *, everyone: bool = False) -> None:
        """Update the derived fields of changed individuals, or of everyone."""
        if not self._launches.adopt:
            return
        if everyone:
            self._state.fill("changed", 1)
        self._backend.run(self._launches.adopt)
        self._state.fill("changed")

    def update(self) -> None:
        """Sort islands, derive fields and renew the halo after individuals changed; collective."""
        self.sort()
        self.derive()
        self.renew_halo()

    def renew_halo(self) -> None:
        """Exchange the halo if there is one; collective."""
        if self._halo is not None:
            self._halo.renew()

    def _run(self, segments: Segments) -> None:
        """Run launches, with host evaluation between the segments."""
        first, *others = segments
        self._backend.run(first)
        for calls in others:
            assert self._outside is not None
            self._outside.evaluate(self._halt.is_requested)
            self._backend.run(calls)
