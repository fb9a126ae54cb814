"""The default settings of an assignment problem, by the structure and the size of the instance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.problems.qap_exchanges import is_uneven, is_unstructured

Matrix = NDArray[np.int64]

_ROUGH_FROM, _FEW_ROUGH = 38, 75
"""The sizes of unstructured instances for which a memetic search is the default."""
_UNEVEN_FROM = 40
"""The smallest uneven instance for which a memetic search is the default."""
_FEW_UNEVEN = 100
_UNEVEN_SIZES = {"population": 66, "improver.steps": 1000}
_GPU_SIZES = {"population": 1056, "improver.steps": 2000}
_CPU_SIZES = {"population": 66, "improver.steps": 500}
_ROUGH: dict[str, Any] = {"crossover": "uniform", "reset": 120}
"""Up to this size, a population converges in seconds, and begins again after 120 generations
without progress. `uniform` finds the best known values sooner there; with 100 facilities, its
children are too far from both mates. Tabu searches that become longer, up to four times, while
there is no progress are worse: on tai60a, 1 instead of 6 of 6 runs of 15 s reached the best known
value (H100).
"""
_FREEZING: dict[str, Any] = {"sweeps": 512, "patience": 0, "migration.topology": "none"}
"""Settings of tempering for unstructured instances: replicas near the temperature at which they
freeze need long undisturbed chains. Renewing them, and migrants, led to worse solutions. Two
good solutions of tai100a, 0.16 and 0.04 % above the best known value, have no facility at the same
location, so that crossing them keeps nothing.
"""
_CHOOSING: dict[str, Any] = {"migration.topology": "none"}
"""Settings of a choice of places."""


def choices(a: Matrix, b: Matrix, *, chooses: bool) -> list[dict[str, Any]]:
    """Return complete default settings for an instance, the best ones first.

    `chooses`: tempering searches it as a choice of places.
    """
    ring = {"migration.topology": "ring", "migration.migrants": 1}
    tempering = {
        "algorithm": "tempering",
        "encoding": "permutation",
        "improver.name": "none",
        "migration.interval": 100,
        **ring,
    }
    memetic = {
        "algorithm": "memetic",
        "encoding": "permutation",
        "improver.name": "tabu",
        "migration.interval": 20,
        "record.every": 5,
        **ring,
    }
    cellular = {
        "algorithm": "cellular",
        "encoding": "permutation",
        "population": 64,
        "selection": "random",
        "crossover": "uniform",
        "group": 1,
        "replacement": "elitist",
        "improver.name": "tabu",
        "migration.interval": 10,
        "record.every": 5,
        **ring,
    }
    if chooses:
        return [tempering | _CHOOSING, cellular, memetic]
    if is_uneven(a, b) and len(a) >= _UNEVEN_FROM:
        return [memetic, tempering, cellular]
    # Tempering solves small instances at once, and leads on large ones. Between, the costs of
    # unstructured instances vary too abruptly for it.
    if is_unstructured(a) and is_unstructured(b) and len(a) >= _ROUGH_FROM:
        freezing = tempering | _FREEZING
        if len(a) <= _FEW_ROUGH:
            return [memetic | _ROUGH, freezing, cellular]
        return [freezing, memetic, cellular]
    return [tempering, cellular, memetic]


def memetic_sizes(a: Matrix, b: Matrix, gpus: Callable[[], int]) -> dict[str, Any]:
    """Return the islands, the population and the steps of tabu search of a memetic search.

    Many short searches of one large population were better than fewer long ones, and than several
    islands (docs/measured.md).
    """
    n = len(a)
    if is_uneven(a, b):
        many = {"population": 132, "improver.steps": 2 * n}
        return {"islands": 4} | (many if n > _FEW_UNEVEN else _UNEVEN_SIZES)
    return {"islands": 1} | (_GPU_SIZES if gpus() else _CPU_SIZES)
