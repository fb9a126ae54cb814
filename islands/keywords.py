"""The keyword arguments of `solve`, `Solver` and so on, for editors and type checkers.

`docs/generate` writes this file from the settings and the signatures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from islands.algorithms.base import Algorithm
    from islands.algorithms.operators import Crossover, Mutation
    from islands.encodings.base import Encoding
    from islands.improvers.base import Improver
    from islands.migration.topology import Topology
    from islands.parallel import World
    from islands.progress.progress import Callback


class ImproverKeywords(TypedDict, total=False):
    """The settings of `improver`, as in `improver={...}`."""

    name: str | type[Improver]
    rate: float
    every: int
    strategy: str
    scope: str
    steps: int
    tenure_low: float
    tenure_high: float
    aspiration: int
    core: int


class MigrationKeywords(TypedDict, total=False):
    """The settings of `migration`, as in `migration={...}`."""

    topology: str | Topology | type[Topology]
    interval: int
    migrants: int
    selection: str
    replacement: str
    duplicates: str
    delay: int


class RecordKeywords(TypedDict, total=False):
    """The settings of `record`, as in `record={...}`."""

    every: int
    migrations: bool


class CheckpointKeywords(TypedDict, total=False):
    """The settings of `checkpoint`, as in `checkpoint={...}`."""

    every: float | str


class _Common(TypedDict, total=False):
    """The settings that every call takes."""

    sized_for_gpus: int
    decoding: str
    elite: float
    mutants: float
    rho: float
    parents: int
    elite_parents: int
    bias: str
    reset: int
    F: float
    Cr: float
    low: float
    high: float
    strategy: str
    adaptation: str
    grid: str
    neighbours: int
    shape: str
    radius: int
    width: int
    selection: str
    crossover: str | Crossover | type[Crossover]
    mutation: str | Mutation | type[Mutation]
    crossover_rate: float
    mutation_rate: float
    strength: int
    group: int
    replacement: str
    halo: bool
    tournament: int
    children: int
    duplicates: str
    c1: float
    c2: float
    inertia: float
    schedule: str
    inertia_end: float
    horizon: int
    velocity: float
    constriction: bool
    neighbourhood: str
    apart: float
    near: float
    exchanges: float
    fewest: int
    rungs: int
    sweeps: int
    coldest: float
    hottest: float
    tuning: int
    patience: int
    descent: int
    proposals: int
    cycle: int
    first_tours: str
    spread: float
    restart: bool
    growths: int
    batches: int
    ends: str
    fixed: str
    infeasible: str
    penalty: float
    fit_first: bool
    utilities: str
    orders: int
    improver: str | type[Improver] | ImproverKeywords
    migration: str | Topology | type[Topology] | MigrationKeywords
    record: RecordKeywords
    checkpoint: CheckpointKeywords
    interval: int
    migrants: int
    colonies: Sequence[str | Mapping[str, Any]]
    format: str


class SolveKeywords(_Common, total=False):
    """The settings of `solve`."""

    threads: int


class SolverKeywords(SolveKeywords, total=False):
    """The settings of `Solver`."""

    algorithm: str | type[Algorithm] | None
    encoding: str | type[Encoding] | None
    preset: str | None
    islands: int | None
    population: int | None
    backend: str | None


class ManyKeywords(_Common, total=False):
    """The arguments that apply to every problem of a call."""

    algorithm: str | type[Algorithm] | None
    encoding: str | type[Encoding] | None
    preset: str | None
    config: str | Path | None
    stop: str | Sequence[str] | None
    seconds: float | str | None
    generations: int | None
    evaluations: float | None
    target: float | None
    gap: float | str | None
    stagnation: int | None
    start: Any
    islands: int | None
    population: int | None
    bound: bool
    trust: bool


class SessionKeywords(ManyKeywords, total=False):
    """The arguments of `Session.solve`."""

    threads: int
    callback: Callback | None
    seed: int | None
    backend: str | None
    share_gpu: bool
    out: str | Path | None
    force: bool
    verbose: bool
    world: World | None


class SolveManyKeywords(ManyKeywords, total=False):
    """The arguments of `solve_many`."""

    seed: int | None
    seeds: Iterable[int] | None
    runs: int
    backend: str
    threads: int | None
    callback: Any
    world: World | None
