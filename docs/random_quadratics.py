"""Dense random quadratic binary problems with integer entries from -100 to 100."""

from __future__ import annotations

import numpy as np

import islands


def _dense(items: int, seed: int) -> islands.Problem:
    entries = np.random.default_rng([items, seed]).integers(-100, 101, (items, items))
    name = f"random-quadratic-{items}-{seed}"
    return islands.qubo(np.tril(entries), maximise=True, name=name)


dense2500a, dense2500b, dense2500c = (_dense(2500, seed) for seed in range(3))
