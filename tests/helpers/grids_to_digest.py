"""Sparse assignments whose runs `tests/digests` repeats."""

from __future__ import annotations

from known_optima import grid

near = grid(6, 8, false=0.02, farthest_hidden=2).problem()
turned = grid(5, 9, deleted=0.2, farthest_hidden=2).problem(turned=True)
large = grid(32, 34, farthest_hidden=2).problem(turned=True)
