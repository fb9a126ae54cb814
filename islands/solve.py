"""The one-call interface: `solve("tsplib/berlin52", stop="seconds=10").cost`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from islands.parallel import World
from islands.parallel import world as launched_world
from islands.problems.base import Problem
from islands.run.result import Result
from islands.run.runner import Output, run_asked


def solve(
    problem: str | Problem,
    *,
    algorithm: str | None = None,
    encoding: str | None = None,
    preset: str | None = None,
    config: str | Path | None = None,
    stop: str | Sequence[str] | None = None,
    seed: int | None = None,
    islands: int | None = None,
    population: int | None = None,
    backend: str | None = None,
    out: str | Path | None = None,
    force: bool = False,
    verbose: bool = False,
    world: World | None = None,
    **settings: Any,
) -> Result:
    """Solve an instance, named or made, and return the best solution found.

    What is left out is the preset's, or the default. `stop` takes what `--stop` takes; `settings`
    are any by their names: `rho=0.7`, `migration="ring"`, `interval=200`, `record={"every": 10}`.
    Files are written only where `out` names a folder. Ctrl-C ends it with the best so far. Under
    MPI, every rank calls this, and all return the same.
    """
    named = {
        "instance": problem if isinstance(problem, str) else problem.instance,
        "algorithm": algorithm,
        "encoding": encoding,
        "preset": preset,
        "stop": stop,
        "seed": seed,
        "islands": islands,
        "population": population,
        "backend": backend,
    }
    options = {name: value for name, value in named.items() if value is not None} | settings
    output = Output(
        writes=out is not None,
        folder=Path(out) if out is not None else None,
        force=force,
        stream=sys.stdout if verbose else None,
    )
    ranks = world if world is not None else launched_world()
    configured = Path(config) if config is not None else None
    made = problem if isinstance(problem, Problem) else None
    with ranks.guarded(show_traceback=True):
        return run_asked(options, configured, ranks, output, made)
