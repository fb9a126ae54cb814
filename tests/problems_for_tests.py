"""Small problems made on the spot."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from islands.problems.tsp import Tsp


def cities(n: int, folder: Path, metric: str = "EUC_2D", seed: int = 1) -> Tsp:
    """Return a travelling salesman problem of n random cities, read back from a file."""
    points = np.random.default_rng(seed).integers(0, 10_000, (n, 2))
    lines = [f"{i + 1} {x} {y}" for i, (x, y) in enumerate(points)]
    head = [f"NAME: random{n}", "TYPE: TSP", f"DIMENSION: {n}", f"EDGE_WEIGHT_TYPE: {metric}"]
    path = folder / f"random{n}-{metric}.tsp"
    path.write_text("\n".join([*head, "NODE_COORD_SECTION", *lines, "EOF", ""]), encoding="utf-8")
    return tsp_from(path)


def tsp_from(path: Path) -> Tsp:
    from islands.problems import load

    problem = load(str(path))
    assert isinstance(problem, Tsp)
    return problem
