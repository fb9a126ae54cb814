"""Whether a configuration can be: asked of all that would refuse it when its islands are made."""

from __future__ import annotations

from islands.algorithms import ALGORITHMS
from islands.archipelago import decoding_for
from islands.backends.base import Backend
from islands.encodings import ENCODINGS
from islands.halo import require_fit
from islands.improvers import improvers_for
from islands.migration import Exchange
from islands.parallel import World
from islands.problems.base import Problem
from islands.run.spec import RunSpec


def require_possible(spec: RunSpec, problem: Problem, backend: Backend) -> None:
    """Refuse settings that do not fit each other, or the size of a population, without compiling.

    What the memory of a device is too small for is seen only when it is taken.
    """
    general, problem = spec.general, problem.adjusted(spec.problem)
    islands, population = general.islands, general.population
    algorithm = ALGORITHMS[spec.algorithm](spec.settings, population, spec.encoding)
    algorithm.require_islands(islands)
    kind, size = problem.solution_kind, problem.size
    improvers_for(kind)[spec.improver.name](spec.improver, size, problem.defines())
    decoding = decoding_for(algorithm.decoding, spec.improver.name)
    ENCODINGS[spec.encoding][kind](size, backend.block_memory, decoding, assigns=problem.assigns)
    Exchange(
        spec.migration,
        backend,
        World(),
        None,
        islands=islands,
        population=population,
        kept=algorithm.kept(),
        seed=general.seed,
    )
    if algorithm.halo:
        require_fit(algorithm.halo, population, spec.migration, islands, runs=1)
