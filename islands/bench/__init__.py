"""Throughput, scaling and migration on this machine, and topologies beyond it.

Speed is reported here, and asserted nowhere.
"""

from __future__ import annotations

BENCHES = {
    "brkga": "islands.bench.brkga",
    "de": "islands.bench.de",
    "cellular": "islands.bench.cellular",
    "tabu": "islands.bench.tabu",
    "topologies": "islands.bench.topologies",
    "migration": "islands.bench.migration",
}
"""What can be measured, and the module that measures it by its function `measure`."""

COLLECTIVE = ("migration",)
"""Benchmarks that all ranks make together; the others are made by rank 0 alone."""
