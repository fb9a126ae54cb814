"""Throughput, scaling, migration and quality on this machine, and topologies beyond it.

Speed is reported here, and asserted nowhere.
"""

from __future__ import annotations

BENCHES = {
    "brkga": "islands.bench.brkga",
    "de": "islands.bench.de",
    "cellular": "islands.bench.cellular",
    "ga": "islands.bench.ga",
    "pso": "islands.bench.pso",
    "tabu": "islands.bench.tabu",
    "topologies": "islands.bench.topologies",
    "migration": "islands.bench.migration",
    "quality": "islands.bench.quality",
}
"""What can be measured, and the module that measures it by its function `measure`."""

COLLECTIVE = ("migration",)
"""Benchmarks that all ranks make together; the others are made by rank 0 alone."""

LONG = ("quality",)
"""Benchmarks that are made only where they are named."""
