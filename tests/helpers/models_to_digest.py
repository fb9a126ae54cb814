"""Small models whose runs `tests/digests` repeats."""

from __future__ import annotations

import numpy as np
from mixed_for_tests import mixed_by

import islands
from islands import models

_RANDOM = np.random.default_rng(4)
_EDGES = np.array([(a, b) for a in range(30) for b in range(a) if _RANDOM.random() < 0.3])
_WAYS = _RANDOM.integers(1, 90, (24, 24))
_ROWS = [_RANDOM.choice(40, 5, replace=False).tolist() for _ in range(30)]

flow = models.flow_shop(_RANDOM.integers(1, 60, (12, 5)).tolist())
cover = models.set_cover(_RANDOM.integers(1, 30, 40), _ROWS)
quadratic = islands.qubo(_RANDOM.integers(-9, 9, (40, 40)))
cut = models.max_cut(_EDGES)
colours = models.graph_colouring(_EDGES)
bins = models.bin_packing(_RANDOM.integers(10, 60, 30).tolist(), 100)
places = models.p_median(_WAYS, 5)
mixed = mixed_by("cost")
diverse = models.max_diversity(_WAYS + _WAYS.T, 8)
