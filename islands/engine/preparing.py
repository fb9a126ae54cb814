"""Turn the cells of a plan into runs that can begin: read problems and resolve settings."""

from collections.abc import Hashable
from typing import Any, Generic

from islands.backends.base import Backend
from islands.configuration.fit import require_shared_memory
from islands.configuration.request import Request
from islands.configuration.resolve import absolute, resolve
from islands.configuration.resolved import Resolved
from islands.configuration.spec import RunSpec
from islands.engine.loading import load_instance, starting_from
from islands.engine.plan import Cell, Plan, Ready
from islands.engine.sharing import SharingRun, sharing_run
from islands.instances.locate import Finder
from islands.problems.base import Problem
from islands.settings import Settings


class Preparing(Generic[Cell]):
    """Resolves the settings of cells, once for similar problems."""

    def __init__(self, plan: Plan[Cell], backend: Backend) -> None:
        """Resolve the cells of `plan`, to run them on `backend`."""
        self._plan, self._backend = plan, backend
        self._settings: dict[type[Problem], Settings] = {}
        """The problem settings of each class of problems, which all its instances share."""
        self._known: dict[Hashable, tuple[RunSpec, SharingRun[Any] | None]] = {}
        self._finder = Finder()
        self._name = "", ""
        """The last name, and its absolute form."""

    def ready(self, cell: Cell) -> Ready[Cell]:
        """Return the run of a cell: a `SharingRun` if it can share launches."""
        requested = self._plan.request(cell)
        if isinstance(requested, Resolved):
            return self._of(cell, requested)
        request, problem = requested
        if problem is None:
            problem = load_instance(request, self._finder)
        if type(problem) in self._settings:
            problem = problem.adjusted(self._settings[type(problem)])
        launch_key, seed = problem.launch_key(), request.options.get("seed")
        if launch_key is None or self._plan.start:
            return self._first(cell, problem, request)
        known = type(problem), launch_key, seed is None
        if known not in self._known:
            first = self._first(cell, problem, request)
            kept = first.without_problem() if isinstance(first, SharingRun) else None
            self._known[known] = first.spec, kept
            return first
        spec, alike = self._known[known]
        name = request.options["instance"]
        spec = spec.of(self._absolute(name), spec.general.seed if seed is None else seed)
        resolved = Resolved(spec, problem)
        return Ready(cell, resolved) if alike is None else alike.like(cell, resolved)

    def _absolute(self, name: str) -> str:
        """Return an absolute name; the last is cached, as problems from arrays share a name."""
        if name != self._name[0]:
            self._name = name, absolute(name)
        return self._name[1]

    def _first(self, cell: Cell, problem: Problem, request: Request) -> Ready[Cell]:
        resolved = starting_from(self._plan.start, resolve(request, problem))
        self._settings[type(problem)] = resolved.spec.problem
        return self._of(cell, resolved)

    def _of(self, cell: Cell, resolved: Resolved) -> Ready[Cell]:
        require_shared_memory(resolved, lambda: self._backend.shared_memory)
        if not self._plan.shares:
            return Ready(cell, resolved)
        has_own_kind = self._plan.repeats
        run = sharing_run(cell, resolved, self._backend, has_own_kind=has_own_kind)
        return Ready(cell, resolved) if run is None else run
