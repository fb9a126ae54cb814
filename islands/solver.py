"""The interface in Python: `solve` in one call, or `Solver` for a run in the caller's hands."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from islands.algorithms import Algorithm
from islands.archipelago.measure import Candidate
from islands.custom.scripts import refuse_while_importing
from islands.encodings import Encoding
from islands.errors import UsageError
from islands.parallel import World
from islands.parallel import world as launched_world
from islands.problems import KIND, load
from islands.problems.base import Problem
from islands.progress.result import Result
from islands.run.build import make_archipelago
from islands.run.device import Conduct, take_device
from islands.run.runner import Output, run_asked
from islands.run.start import check_exactly
from islands.spec.agreement import require_agreement
from islands.spec.given import gathered, of_table
from islands.spec.resolve import format_of, layers, resolve
from islands.text import one_line


def solve(
    problem: str | Path | Problem | type[Problem],
    *,
    algorithm: str | type[Algorithm] | None = None,
    encoding: str | type[Encoding] | None = None,
    preset: str | None = None,
    config: str | Path | None = None,
    stop: str | Sequence[str] | None = None,
    seed: int | None = None,
    islands: int | None = None,
    population: int | None = None,
    backend: str | None = None,
    share_gpu: bool = False,
    out: str | Path | None = None,
    force: bool = False,
    verbose: bool = False,
    world: World | None = None,
    **settings: Any,
) -> Result:
    """Solve an instance, named or made, and return the best solution found.

    What is left out is the preset's, or the default. `stop` takes what `--stop` takes; `settings`
    are any by their names: `rho=0.7`, `migration="ring"`, `interval=200`, `record={"every": 10}`,
    `infeasible="drop"`. Wherever a part has a name, one of your own may stand: a class derived from
    `islands.Algorithm` and such, an object of it for a crossover, a mutation or a topology, or
    `FILE.py:NAME`.
    Files are written only where `out` names a folder. Under MPI, every rank calls this, and all
    return the same; `share_gpu` lets them share a GPU.

    Called in the main thread, Ctrl-C (SIGINT) ends it with the best so far, and once more the
    process at once. Where `out` is given, SIGTERM and SIGUSR1 end it with a checkpoint, from which
    `islands resume` goes on; the result is then `suspended`. Otherwise they keep their meaning.
    """
    refuse_while_importing("islands.solve")
    name, made = _taken(problem)
    named = {
        "instance": name,
        "algorithm": algorithm,
        "encoding": encoding,
        "preset": preset,
        "stop": stop,
        "seed": seed,
        "islands": islands,
        "population": population,
        "backend": backend,
    }
    chosen = {name: value for name, value in named.items() if value is not None}
    options = gathered([*of_table(chosen), *of_table(settings)])
    output = Output(
        writes=out is not None,
        folder=Path(out) if out is not None else None,
        force=force,
        stream=sys.stdout if verbose else None,
    )
    ranks = world if world is not None else launched_world()
    configured = Path(config) if config is not None else None
    with ranks.guarded(show_traceback=True):
        return run_asked(options, configured, ranks, output, made, Conduct(share_gpu=share_gpu))


class Solver:
    """Islands of an algorithm on a problem, advanced by hand.

    It takes the settings of `solve`, which uses the same parts; but it stops, records and migrates
    only when told to. Under MPI, every rank makes the same calls.
    """

    def __init__(
        self,
        problem: str | Path | Problem | type[Problem],
        world: World | None = None,
        *,
        share_gpu: bool = False,
        **settings: Any,
    ) -> None:
        """Make generation 0 of `problem`, an instance or its name."""
        self._world = world if world is not None else launched_world()
        refuse_while_importing("islands.Solver")
        name, made = _taken(problem)
        options = gathered([*of_table({"instance": name}), *of_table(settings)])
        asked = self._world.agreed(lambda: layers(options))
        chosen = made or self._world.agreed(lambda: load(name, format_of(asked)))
        self.spec = self._world.agreed(lambda: resolve(asked, chosen))
        self.problem = self._world.agreed(lambda: chosen.adjusted(self.spec.problem))
        require_agreement(self._world, self.spec, self.problem, writes=False)
        general = self.spec.general
        name, threads = general.backend, general.threads or None
        backend = take_device(self._world, name, threads, share_gpu=share_gpu)
        self._archipelago = make_archipelago(self.spec, self.problem, self._world, backend)
        self._world.agreed(self._archipelago.start)

    @property
    def generation(self) -> int:
        """How many generations have passed."""
        return self._archipelago.generation

    def evolve(self, generations: int = 1) -> None:
        """Pass so many generations on all islands."""
        if generations < 0:
            raise UsageError(f"generations={generations}: must be at least 0")
        self._archipelago.advance(generations)

    def exchange(self) -> None:
        """Let the islands exchange migrants, as the settings of migration say."""
        self._archipelago.migrate()

    def best(self, count: int = 1) -> list[Candidate]:
        """Return the best individuals of all populations, best first, checked exactly by NumPy.

        They are fewer, or none, where not so many feasible ones have been met.
        """
        if count < 1:
            raise UsageError(f"count={count}: must be at least 1")
        own = self._archipelago.elite(count)
        everyone = [candidate for rank in self._world.allgather(own) for candidate in rank]
        chosen = sorted(everyone, key=lambda candidate: (candidate.cost, candidate.island))[:count]
        best = [replace(each, cost=self.problem.own_sense(each.cost)) for each in chosen]
        for candidate in best:
            # All ranks hold the same candidates, so all raise or none.
            check_exactly(self.problem, candidate, candidate.cost)
        return best


def _taken(problem: str | Path | Problem | type[Problem]) -> tuple[str, Problem | None]:
    """Return what `run.toml` calls an instance, and the instance where it is made already.

    One that no file holds and no script names is called anything.
    """
    if isinstance(problem, str | Path):
        return str(problem), None
    own = KIND.taken(problem)
    made: Problem = own.part
    if made.path is not None:
        return made.instance, made
    return own.reference or one_line(made.instance, 200), made
