"""The default settings of an assignment problem, by the structure and the size of the instance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.problems.qap_exchanges import is_uneven, is_unstructured

Matrix = NDArray[np.int64]

_ROUGH_FROM, _ROUGH_TO = 38, 75
"""The sizes of unstructured instances for which a memetic search is the default."""
_UNEVEN_FROM = 40
"""The smallest uneven instance for which a memetic search is the default."""


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
        "population": 264,
        "islands": 4,
        "improver.name": "tabu",
        "improver.steps": 5000,
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
        return [memetic | {"population": 66, "improver.steps": 1000}, tempering, cellular]
    # Tempering solves small instances at once, and leads on large ones. Between, the costs of
    # unstructured instances vary too abruptly for it.
    if is_unstructured(a) and is_unstructured(b) and _ROUGH_FROM <= len(a) <= _ROUGH_TO:
        return [memetic, tempering, cellular]
    return [tempering, cellular, memetic]
