"""A directed path with fixed legs, for the table of digests."""

import numpy as np

import islands

minutes = np.random.default_rng(8).integers(1, 1000, (60, 60))
path = islands.tsp(distances=minutes, start=3, end="any", fixed=[(5, 9), (9, 12)], name="path")
