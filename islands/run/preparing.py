"""From what a user asks for to instances that wait for a place in shared launches."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from islands.backends.base import Backend
from islands.configuration.fit import require_block_memory
from islands.configuration.resolve import Layer, absolute, layers
from islands.configuration.spec import RunSpec
from islands.instances.formats import FOUND_BY_NAME
from islands.instances.locate import Finder
from islands.problems.base import Problem
from islands.run.request import load_instance, resolved
from islands.run.waiting import Key, Waiting, waiting_for
from islands.settings import Settings


@dataclass(frozen=True)
class Wanted:
    """An instance that a user asks for."""

    name: str
    problem: Problem | None = None
    """None: read it by its name."""
    seed: int | None = None
    """None: that of the settings."""


class Preparing:
    """Resolves the settings of instances; those of alike ones are resolved once."""

    def __init__(
        self,
        backend: Backend,
        options: Callable[[Wanted], Mapping[str, Any]],
        config: Path | None = None,
    ) -> None:
        """Take the device, and a function that returns all options of an instance."""
        self._backend, self._options = backend, options
        self._config = config
        self._settings: dict[type[Problem], Settings] = {}
        """The settings of problems, which are those of all of a kind."""
        self._known: dict[Hashable, tuple[RunSpec, Waiting[Any] | None]] = {}
        self._finder = Finder(FOUND_BY_NAME)
        self._name = "", ""
        """The last name, and the same as `absolute` returns it."""

    def waiting(self, key: Key, wanted: Wanted) -> Waiting[Key] | None:
        """Return the instance with its settings; None if it cannot share launches."""
        asked, problem = None, wanted.problem
        if problem is None:
            asked = layers(self._options(wanted), self._config)
            problem = load_instance(asked, self._finder)
        if type(problem) in self._settings:
            problem = problem.adjusted(self._settings[type(problem)])
        likeness = problem.likeness()
        if likeness is None:
            return self._first(key, wanted, problem, asked)[1]
        known = type(problem), likeness, wanted.seed is None
        if known not in self._known:
            self._known[known] = self._first(key, wanted, problem, asked)
            return self._known[known][1]
        spec, alike = self._known[known]
        if alike is None:
            return None
        seed = spec.general.seed if wanted.seed is None else wanted.seed
        return alike.like(key, spec.of(self._absolute(wanted.name), seed), problem)

    def _absolute(self, name: str) -> str:
        """Return a name that is valid in any folder; problems from arrays have the same one."""
        if name != self._name[0]:
            self._name = name, absolute(name)
        return self._name[1]

    def _first(
        self, key: Key, wanted: Wanted, problem: Problem, asked: Sequence[Layer] | None
    ) -> tuple[RunSpec, Waiting[Key] | None]:
        if asked is None:
            asked = layers(self._options(wanted), self._config)
        spec, problem = resolved(asked, problem)
        self._settings[type(problem)] = spec.problem
        require_block_memory(spec, problem, lambda: self._backend.block_memory)
        return spec, waiting_for(key, spec, problem, self._backend)
