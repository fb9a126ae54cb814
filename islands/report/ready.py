"""Draw solutions of ready-made models whose problem is stored in the folder of a run.

A stored problem consists of the name of its model, CUDA code and arrays. The model is created again
from the arrays, as only its class can draw solutions.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands import models
from islands.errors import IslandsError
from islands.modelling.model import Model
from islands.problems.base import Solution


def drawing_of(stored: Model) -> Callable[[Solution, Any], Any] | None:
    """Return the function that draws solutions of a stored problem, or None."""
    if stored.ready not in _CREATORS:
        return None
    with suppress(IslandsError, LookupError, ValueError):  # the data may not fit the model
        draw: Callable[[Solution, Any], Any]
        draw = _CREATORS[stored.ready]({**stored.members, **stored.kind.options}).draw
        return draw
    return None


def _rows(entries: NDArray[Any], first: NDArray[Any]) -> list[Any]:
    """Split entries into rows; `first` has the start of each row, and the end of the last one."""
    return [row.tolist() for row in np.split(entries, first[1:-1])]


def _edges(data: Mapping[str, Any]) -> NDArray[np.int64]:
    """Return the edges of a graph, each of which is stored at both of its nodes."""
    node = np.repeat(np.arange(len(data["first"]) - 1), np.diff(data["first"]))
    edges = np.column_stack([node, data["other"]])
    return edges[edges[:, 0] < edges[:, 1]]


def _flexible_job_shop(data: Mapping[str, Any]) -> models.FlexibleJobShop:
    spans = [*pairwise(data["first"].tolist())]
    choices = (_rows(data[name], data["choices"]) for name in ("machine", "time"))
    machines, times = ([rows[begin:end] for begin, end in spans] for rows in choices)
    return models.FlexibleJobShop(machines, times, release=data["release"])


_CREATORS: dict[str, Callable[[Any], Any]] = {
    "bin_packing": lambda data: models.BinPacking(
        data["size"], int(data["capacity"]), int(data["sizes"])
    ),
    "flexible_job_shop": _flexible_job_shop,
    "flow_shop": lambda data: models.FlowShop(data["time"]),
    "graph_colouring": lambda data: models.GraphColouring(_edges(data), int(data["colours"])),
    "job_shop": lambda data: models.JobShop(
        *(_rows(data[name], data["first"]) for name in ("machine", "time"))
    ),
    "max_cut": lambda data: models.MaxCut(_edges(data), nodes=len(data["first"]) - 1),
    "p_median": lambda data: models.PMedian(data["way"].T, int(data["size"])),
    "set_cover": lambda data: models.SetCover(
        data["cost"], _rows(data["column"], data["row_first"])
    ),
}
"""Functions that create a model from its data and the options of its solutions, by model name."""
