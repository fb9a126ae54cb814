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

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from islands.studies.described import described

if TYPE_CHECKING:
    from islands.studies.bench.base import BenchRequest
    from islands.tables import Row

BENCHES: Mapping[str, Mapping[str, Any]] = described(Path(__file__).with_name("benchmarks.toml"))
"""The benchmarks by name; each is a module or an object with a function `measure`."""
COLLECTIVE, DRAWN, LONG = (
    tuple(name for name, each in BENCHES.items() if each.get(key))
    for key in ("collective", "drawn", "long")
)
"""Benchmarks that need all ranks, that are drawn, and of which each run is kept."""

GPU_INSTANCES: tuple[str, ...] = tuple(BENCHES["gpus"]["instances"])
"""What `gpus` solves if no instance is named; `sleep` is a cost of a user's own that waits."""


def benchmark(name: str) -> tuple[str, Callable[[BenchRequest], Iterator[Row]]]:
    """Return the description of a benchmark and the function that measures it."""
    found = resolve_name(f"{__name__}.{BENCHES[name]['measured_by']}")
    return BENCHES[name].get("text") or found.text, found.measure
