"""The Python interface: `solve` runs in one call; with `Solver`, the caller controls the steps."""

from __future__ import annotations  # docs/keywords.py copies them as text

import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self, Unpack

import numpy as np

from islands.algorithms import Algorithm
from islands.archipelago.injection import checked_solutions
from islands.archipelago.measure import Candidate
from islands.backends.base import Backend
from islands.calls import explained, is_whole
from islands.configuration.identity import require_agreement
from islands.configuration.keywords import of_keywords
from islands.configuration.resolved import Resolved
from islands.configuration.spec import GeneralSettings
from islands.custom.scripts import reject_while_importing
from islands.custom.trust import signed_scripts, trust_files, trusting
from islands.encodings import Encoding
from islands.engine.build import RankOptions, make_archipelago, take_device
from islands.engine.loading import load_and_resolve, starting_from
from islands.engine.runner import run_requested
from islands.engine.single import Output, check_exactly
from islands.errors import UsageError
from islands.keywords import SessionKeywords, SolveKeywords, SolverKeywords
from islands.parallel import World
from islands.parallel import world as launched_world
from islands.paths import given_folder
from islands.problems import problem_of
from islands.problems.base import Problem
from islands.progress.progress import Callback
from islands.progress.result import Result
from islands.text import shown
from islands.untrusted import followed


class _Default:
    """Marks an argument that was not given; signatures show it as 1."""

    def __repr__(self) -> str:
        return "1"


DEFAULT_SEED: Any = _Default()
"""The seed of the settings, which is 1 unless a preset or a file has another one."""
_MOST_DRAWN = 2**31 - 1


@explained
@trusting
def solve(
    problem: str | Path | Problem | type[Problem],
    *,
    algorithm: str | type[Algorithm] | None = None,
    encoding: str | type[Encoding] | None = None,
    preset: str | None = None,
    config: str | Path | None = None,
    stop: str | Sequence[str] | None = None,
    seconds: float | str | None = None,
    generations: int | None = None,
    evaluations: float | None = None,
    target: float | None = None,
    gap: float | str | None = None,
    stagnation: int | None = None,
    callback: Callback | None = None,
    seed: int | None = DEFAULT_SEED,
    start: Any = None,
    islands: int | None = None,
    population: int | None = None,
    backend: str | None = None,
    bound: bool = False,
    share_gpu: bool = False,
    out: str | Path | None = None,
    force: bool = False,
    verbose: bool = False,
    world: World | None = None,
    trust: bool = False,
    session: Session | None = None,
    **settings: Unpack[SolveKeywords],
) -> Result:
    """Solve a problem and return the best solution found.

    >>> result = islands.solve("demo/tsp", algorithm="ga", generations=20, seed=7)
    >>> result.generations, len(result.solution)
    (20, 120)

    `problem` is the name of an instance, a path, or an object, such as from `islands.tsp`.

    An omitted setting takes the value of the preset, or its default. `settings` are any other
    settings by name: `interval=200`, `migration="ring"`, `record={"every": 10}`,
    `infeasible="drop"`, or a setting of the algorithm, such as `rho=0.7` with `algorithm="brkga"`.
    A setting that names a component also accepts your own: a class derived from
    `islands.Algorithm` and so on, an object of such a class for a crossover, mutation or topology,
    or `FILE.py:NAME`. `colonies` is a list of settings of colonies: islands that differ in
    algorithm, encoding and settings, such as `[dict(islands=4, algorithm="de"), ...]`.

    `seed` is 1 by default; `seed=None` draws a random one, which is in `result.seed`. `start` is a
    list of solutions with which the search begins: arrays such as `Result.solution`, or paths of
    solution files or run folders. Arrays are not written to `run.toml`.

    The run stops at the first criterion that is satisfied. `stop` takes the values of `--stop`, as
    text or as a list: `stop="best-known"`, `stop=["optimum", "seconds=60"]`. Criteria with a value
    are also keywords, which are combined with `stop`: `seconds`, `generations`, `evaluations`,
    `target` (a cost), `gap` (in per cent) and `stagnation` (generations without improvement).

    `callback` is called on rank 0 with an `islands.Progress` at the end of each epoch, which is a
    number of generations up to a migration or a row of the trace, and about once a second within
    a longer epoch. If it returns True, the run ends normally; other values have no effect. If it
    raises an exception, the run ends with it, on all ranks.

    With `bound`, a bound on the optimum of a tour, a knapsack or a sparse assignment is computed
    after the search (`result.bound`). For tours, it takes up to a fifth of the time of the search,
    or 2 seconds if this is longer.

    `config` is a file of settings. A script that it names runs only if another argument names it
    too, if the file is the `run.toml` of your own run on this machine, or with `trust`.

    Output is printed only with `verbose`, and files are written only if `out` names a folder. Under
    MPI, call this on every rank; all ranks return the same result. `share_gpu` lets ranks share a
    GPU. `session` provides the device; without it, the device of an earlier call is reused.

    In the main thread, Ctrl-C (SIGINT) ends the run with the best solution so far; a second Ctrl-C
    ends the process. If `out` is given, SIGTERM, SIGUSR1 and SIGHUP end the run with a checkpoint,
    from which `islands resume` continues; the result is then `suspended`. Otherwise these signals
    keep their usual effect.

    If a file in `out` cannot be written, as on a full disk, the run ends with the best solution so
    far: the result is returned, `result.write_error` gives the reason, and a `RuntimeWarning` is
    issued.
    """
    reject_while_importing("islands.solve")
    name, given = problem_of(problem, "solve")
    if session is not None:
        session.require_fit(backend=backend, threads=settings.get("threads"), world=world)
        backend, world = session.backend, session.world
        if session.threads:
            settings["threads"] = session.threads
    output = _output_of(out, callback, force=force, verbose=verbose)
    ranks = world if world is not None else launched_world()
    files, arrays = split_start(start)
    request = of_keywords(
        settings,
        config=config,
        instance=name,
        start=files or None,
        algorithm=algorithm,
        encoding=encoding,
        preset=preset,
        stop=stop,
        seconds=seconds,
        generations=generations,
        evaluations=evaluations,
        target=target,
        gap=gap,
        stagnation=stagnation,
        seed=seed_for(seed, ranks),
        islands=islands,
        population=population,
        backend=backend,
        bound=bound,
    )
    with ranks.guarded(show_traceback=True):
        device = None if session is None else session.device
        if device is not None:
            device.begin_run()
        options = RankOptions(share_gpu=share_gpu, device=device)
        if trust:
            ranks.run_on_all(
                lambda: trust_files(signed_scripts(request.config, followed, by_user=True))
            )
        prepare = partial(starting_from, arrays)
        result = run_requested(request, ranks, output, given, options, prepare=prepare)
    result.warn_of_lost_files()
    return result.shown_by(draw, page)


def _output_of(out: Any, callback: Any, *, force: bool, verbose: bool) -> Output:
    """Return the output of a call; reject invalid arguments."""
    require_function(callback)
    if verbose not in (False, True):
        raise UsageError(f"verbose={shown(verbose)}: must be True or False")
    folder = None if out is None else given_folder(out, "out")
    stream = sys.stdout if verbose else None
    return Output(folder is not None, folder, force, stream, callback=callback, collects=True)


def require_function(callback: Any) -> None:
    """Reject a callback that cannot be called."""
    if callback is not None and not callable(callback):
        raise UsageError(
            f"callback={callback!r}: is not a function. Pass a function of one argument, the"
            " progress"
        )


def seed_for(seed: Any, world: World) -> Any:
    """Return the seed, or None for the default; if it is None, draw one for all ranks."""
    if seed is None:
        return world.from_first(lambda: secrets.randbelow(_MOST_DRAWN) + 1)
    return None if seed is DEFAULT_SEED else seed


def split_start(start: Any) -> tuple[list[str], list[Any]]:
    """Return the files and the arrays of start solutions."""
    if start is None:
        return [], []
    # A list of numbers is one solution.
    is_one = not isinstance(start, list | tuple) or not any(
        _is_file(item) or isinstance(item, Mapping) or np.ndim(item) > 0 for item in start
    )
    if is_one and np.ndim(start) < 2:
        start = [start] if not isinstance(start, list | tuple) or start else []
    files = [str(item) for item in start if _is_file(item)]
    return files, [item for item in start if not _is_file(item)]


def _is_file(value: Any) -> bool:
    return isinstance(value, str | Path)


def draw(result: Result, what: str, axes: Any) -> Any:
    """Draw a picture of a result; see `Result.plot`."""
    from islands.report.pictures import draw_result

    return draw_result(result, what, axes)


def page(result: Result) -> str:
    """Return a result as HTML, for notebooks."""
    from islands.report.notebook import of_result

    return of_result(result)


class Session:
    """A device that is kept for several calls of `solve`, with its compiled programs.

    >>> with islands.Session(backend="cpu") as session:
    ...     costs = [session.solve("demo/tsp", generations=3, seed=seed).cost for seed in (1, 2)]
    >>> len(costs)
    2

    Under MPI, create it on every rank, and make the same calls on all of them.
    """

    @explained
    def __init__(
        self,
        *,
        backend: str = "auto",
        threads: int | None = None,
        share_gpu: bool = False,
        world: World | None = None,
    ) -> None:
        """Take the device of this rank: `backend` and `threads` are those of `solve`."""
        reject_while_importing("islands.Session")
        self.world = world if world is not None else launched_world()
        self.threads = GeneralSettings.converted("threads", threads or 0)
        self._device: Backend | None = take_device(
            self.world, str(backend), self.threads or None, share_gpu=share_gpu
        )
        self.backend = self._device.name
        """The name of the backend, `cpu` or `cuda`."""

    @explained
    def solve(
        self, problem: str | Path | Problem | type[Problem], **settings: Unpack[SessionKeywords]
    ) -> Result:
        """Solve a problem as `islands.solve` does, with the same settings."""
        return solve(problem, session=self, **settings)

    @property
    def device(self) -> Backend:
        """The device; raises a `UsageError` if the session is closed."""
        if self._device is None:
            raise UsageError("this session is closed. Call solve inside its `with` block")
        return self._device

    def require_fit(self, *, backend: Any, threads: Any, world: World | None) -> None:
        """Reject a device or ranks other than those of this session."""
        taken = {"backend": self.backend, "threads": self.threads}
        for name, value in {"backend": backend, "threads": threads}.items():
            if value not in (None, "auto", taken[name]):
                raise UsageError(
                    f"{name}={value!r}: this session has {name}={taken[name]!r}. Leave it out, or"
                    f" write islands.Session({name}={value!r})"
                )
        if world not in (None, self.world):
            raise UsageError("world: the session has other ranks. Pass world to islands.Session")

    def close(self) -> None:
        """Discard the programs and release the device."""
        if self._device is not None:
            self._device.release()
        self._device = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Solver:
    """Islands that the caller advances step by step.

    It takes the same settings as `solve`, but stops, records and migrates only on request. Under
    MPI, make the same calls on every rank, with the same arguments.

    >>> solver = islands.Solver("demo/tsp", islands=3, population=64)
    >>> solver.evolve(20)
    >>> solver.exchange()
    >>> len(solver.best(5))
    5
    """

    @explained
    @trusting
    def __init__(
        self,
        problem: str | Path | Problem | type[Problem],
        world: World | None = None,
        *,
        seed: int | None = DEFAULT_SEED,
        start: Any = None,
        share_gpu: bool = False,
        **settings: Unpack[SolverKeywords],
    ) -> None:
        """Create generation 0 for `problem`, an instance or its name.

        `seed` and `start` have the same meaning as for `solve`.
        """
        self._world = world if world is not None else launched_world()
        reject_while_importing("islands.Solver")
        for argument in settings:
            if argument in SessionKeywords.__annotations__.keys() - SolverKeywords.__annotations__:
                raise UsageError(
                    f"{argument}: Solver has no such argument. Leave it out, or use islands.solve"
                )
        name, given = problem_of(problem, "Solver")
        files, arrays = split_start(start)
        seed = seed_for(seed, self._world)
        request = of_keywords(settings, instance=name, start=files or None, seed=seed)

        def resolve() -> Resolved:
            return starting_from(arrays, load_and_resolve(request, given))

        resolved = self._world.run_on_all(resolve)
        self.spec, self.problem = resolved.spec, resolved.problem
        require_agreement(self._world, resolved, writes=False)
        general = self.spec.general
        name, threads = general.backend, general.threads or None
        backend = take_device(self._world, name, threads, share_gpu=share_gpu)
        self._archipelago = make_archipelago(resolved, self._world, backend)
        self.reset()

    @property
    def generation(self) -> int:
        """The number of completed generations."""
        return self._archipelago.generation

    def reset(self) -> None:
        """Return to generation 0 with the same seed, as in a new `Solver`."""
        self._world.run_on_all(self._archipelago.start)
        self._next_island = 0

    def evolve(self, generations: int = 1) -> None:
        """Advance all islands by the given number of generations."""
        if not is_whole(generations) or generations < 0:
            raise UsageError(f"generations={generations!r}: must be a whole number of at least 0")
        self._archipelago.advance(int(generations))

    def exchange(self) -> None:
        """Exchange migrants between islands according to the migration settings."""
        self._archipelago.migrate()

    def best(self, count: int = 1) -> list[Candidate]:
        """Return the `count` best individuals of all populations, best first, checked by NumPy.

        The list is shorter, or empty, if there are fewer feasible individuals.
        """
        if not is_whole(count) or count < 1:
            raise UsageError(f"count={count!r}: must be a whole number of at least 1")
        by_rank = self._world.allgather(self._archipelago.elite(count))
        everyone = [candidate for candidates in by_rank for candidate in candidates]
        everyone.sort(key=lambda candidate: (candidate.cost, candidate.island))
        scale, kind, best = self.problem.scale, self.problem.kind, list[Candidate]()
        for candidate in everyone[:count]:
            cost, solution = scale.user_costs(candidate.cost), kind.presented(candidate.solution)
            best.append(replace(candidate, cost=cost, solution=solution))
            # All ranks have the same candidates, so either all raise or none does.
            check_exactly(self.problem, best[-1], cost)
        return best

    def inject(self, solutions: Sequence[Any]) -> None:
        """Replace the worst individuals by solutions, which are dealt to the islands in turn.

        Solutions have the form of `Result.solution`: the items in their order, or 1 or 0 for each
        item. The first one enters the island after the one that received the last solution of
        the previous call. Costs are computed by NumPy.
        """
        islands = self.spec.general.islands
        # Solutions are dealt to all islands in turn, so the smallest population limits them.
        most = islands * min(colony.population for colony in self.spec.all_colonies)
        checked = self._world.run_on_all(lambda: checked_solutions(self.problem, solutions, most))
        self._archipelago.inject(checked, self._next_island)
        self._next_island = (self._next_island + len(checked)) % islands

    def populations(self) -> list[Any]:
        """Return the genomes of each island of this rank: arrays of population x genes.

        If ranks share islands, the first one returns them, and the others return an empty list. The
        arrays are views of the backend's memory (NumPy on a CPU, CuPy on a GPU), valid until the
        next call that changes the islands. Do not modify them. Genomes are encoded as in the
        kernels; `best` returns solutions.
        """
        return self._archipelago.populations()
