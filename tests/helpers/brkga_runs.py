"""Runs of BRKGA, and their comparison with the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np
from numbers_for_tests import NUMBERS
from numpy_brkga import NumpyBrkga
from one_colony import one_colony

from islands.algorithms.brkga import BrkgaSettings
from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.migration import MigrationSettings
from islands.parallel import World
from islands.problems.base import Problem


def archipelago(backend: Backend, problem: Problem, **changes: Any) -> Archipelago:
    rest = {"population": 20, "islands": 3, "seed": 5, "warm_start": tuple, "decoding": ""}
    rest |= {name: changes.pop(name) for name in list(changes) if name in rest}
    migration = {name: changes.pop(name) for name in ("topology", "migrants") if name in changes}
    return one_colony(
        problem=problem,
        algorithm="brkga",
        encoding=problem.solution_kind if problem.solution_kind in NUMBERS else "keys",
        settings=BrkgaSettings.build({"elite": 0.2, **changes}),
        migration=MigrationSettings.build(migration),
        backend=backend,
        world=World(),
        **rest,
    )


def genes_and_costs(mine: Archipelago) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return each island's keys and costs."""
    saved = mine.snapshot()
    keys = saved["genes"][:, :, : mine._encodings[0].size]
    return list(zip(keys, saved["cost"], strict=True))


def assert_same(mine: Archipelago, reference: NumpyBrkga) -> None:
    for (keys, costs), expected_keys, expected_costs in zip(
        genes_and_costs(mine), reference.keys, reference.cost, strict=True
    ):
        assert costs.tolist() == expected_costs.tolist()
        assert (keys == expected_keys).all()
