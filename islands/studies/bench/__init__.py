"""Benchmarks of speed, scaling, migration and solution quality, and simulated topologies.

Each benchmark is a module with a function `measure`, which takes the options of the command and
yields rows. `quality` also runs other programs for the same time (`rivals/`). Benchmarks report
speed; no test asserts it.

- `BenchRequest`: the options of a command.
- `Method`: settings that are compared with others; a `Rival` is another program.
- `Row`: a measurement, in a `Table`.

May import the solver with its engine, and `islands.studies.pages` for curves, but not `papers`.
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
    tuple(name for name, entry in BENCHES.items() if entry.get(key))
    for key in ("collective", "drawn", "long")
)
"""The benchmarks that need all ranks, those with plots, and those that store each run."""

GPU_INSTANCES: tuple[str, ...] = tuple(BENCHES["gpus"]["instances"])
"""Default instances of `gpus`; `sleep` is a user-defined cost that waits."""


def benchmark(name: str) -> tuple[str, Callable[[BenchRequest], Iterator[Row]]]:
    """Return the description of a benchmark and the function that measures it."""
    module = resolve_name(f"{__name__}.{BENCHES[name]['measured_by']}")
    return BENCHES[name].get("text") or module.text, module.measure
