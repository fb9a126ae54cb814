"""Benchmarks of speed, scaling, migration and solution quality, and simulated topologies.

Each benchmark is a module with a function `measure`, which takes the options of the command and
yields rows. `quality` also runs other programs for the same time (`rivals/`). Benchmarks report
speed; no test asserts it.

- May import: the solver, also its engine, of which they time parts; `islands.studies.pages` for
  curves; not the papers.
- The nouns: `BenchRequest`, the options of a command; `Method`, a variant of our settings or a
  `Rival`, another program; `Row` of a `Table`, what was measured.
"""

from __future__ import annotations

from inspect import getdoc
from pkgutil import resolve_name
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from islands.studies.bench.base import BenchRequest
    from islands.tables import Row

BENCHES = {
    "brkga": "islands.studies.bench.algorithms:BRKGA",
    "de": "islands.studies.bench.algorithms:DE",
    "cellular": "islands.studies.bench.algorithms:CELLULAR",
    "ga": "islands.studies.bench.algorithms:GA",
    "pso": "islands.studies.bench.algorithms:PSO",
    "eax": "islands.studies.bench.algorithms:EAX",
    "tabu": "islands.studies.bench.tabu",
    "decoders": "islands.studies.bench.decoders",
    "recording": "islands.studies.bench.recording",
    "topologies": "islands.studies.bench.topologies",
    "migration": "islands.studies.bench.migration",
    "many": "islands.studies.bench.many",
    "quality": "islands.studies.bench.quality",
    "colonies": "islands.studies.bench.colonies",
    "gpus": "islands.studies.bench.gpus",
}
"""Names of the benchmarks; each is a module or an object with a function `measure`."""

COLLECTIVE = ("migration", "many", "quality", "colonies", "gpus")
"""Benchmarks that need all ranks; rank 0 runs the others alone."""

DRAWN = ("topologies", "quality", "colonies", "gpus")
"""Benchmarks of which `--out` also gets plots."""

LONG = ("quality", "colonies", "gpus")
"""Benchmarks of which `--out` keeps each run, so that they can be continued."""

GPU_INSTANCES = (
    *("national/it16862", "national/vm22775", "national/sw24978", "qaplib/tai60a"),
    *("qaplib/tai100a", "orlib/mknapcb9-00", "sleep"),
)
"""What `gpus` solves if no instance is named; `sleep` is a cost of a user's own that waits."""


def benchmark(name: str) -> tuple[str, Callable[[BenchRequest], Iterator[Row]]]:
    """Return the description of a benchmark and the function that measures it."""
    found = resolve_name(BENCHES[name])
    return getattr(found, "text", None) or getdoc(found) or "", found.measure
