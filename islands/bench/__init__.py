"""Benchmarks of speed, scaling, migration and solution quality, and simulated topologies.

Benchmarks report speed; no test asserts it.
"""

from __future__ import annotations

from inspect import getdoc
from pkgutil import resolve_name
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from islands.bench.base import BenchRequest
    from islands.tables import Row

BENCHES = {
    "brkga": "islands.bench.algorithms:BRKGA",
    "de": "islands.bench.algorithms:DE",
    "cellular": "islands.bench.algorithms:CELLULAR",
    "ga": "islands.bench.algorithms:GA",
    "pso": "islands.bench.algorithms:PSO",
    "eax": "islands.bench.algorithms:EAX",
    "tabu": "islands.bench.tabu",
    "decoders": "islands.bench.decoders",
    "recording": "islands.bench.recording",
    "topologies": "islands.bench.topologies",
    "migration": "islands.bench.migration",
    "many": "islands.bench.many",
    "quality": "islands.bench.quality",
    "colonies": "islands.bench.colonies",
    "gpus": "islands.bench.gpus",
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
