"""Job shops whose runs `tests/digests` repeats."""

import numpy as np

import islands

_RANDOM = np.random.default_rng(1)
_MACHINES = [_RANDOM.permutation(5).tolist() for _ in range(8)]
_TIMES = _RANDOM.integers(1, 50, (8, 5)).tolist()

plain = islands.models.job_shop(_MACHINES, _TIMES)
dated = islands.models.job_shop(
    _MACHINES,
    _TIMES,
    release=[0, 9, 0, 20, 5, 0, 0, 40],
    due=[sum(row) * 13 // 10 for row in _TIMES],
    weights=[4, 4, 2, 2, 2, 1, 1, 1],
    objective="tardiness",
)
flexible = islands.models.job_shop(
    [[[k, (k + 1) % 5] for k in row] for row in _MACHINES],
    [[[time, time + 5] for time in row] for row in _TIMES],
)
