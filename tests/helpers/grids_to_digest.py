"""Sparse assignments whose runs `tests/digests` repeats."""

from islands.instances.grids import grid
from islands.problems.qap import Qap

near = Qap(grid(6, 8, false=2, hidden=2).file())
turned = Qap(grid(5, 9, deleted=20, hidden=2).file(turned=True))
large = Qap(grid(32, 34, hidden=2).file(turned=True))
