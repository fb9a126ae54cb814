"""Instances that this program makes itself, the same on every machine and for ever."""

from __future__ import annotations

import numpy as np

from islands.instances.tsplib import TspFile

DEMO_CITIES = 120
DEMO_SIDE = 1_000
DEMO_SEED = 7


def uniform_tsp(n: int, seed: int, side: int = 1_000_000, name: str | None = None) -> TspFile:
    """Return n cities on whole coordinates, drawn evenly from a square."""
    # Only the raw stream of a bit generator is promised to stay the same between NumPy's versions.
    raw = np.random.PCG64(seed).random_raw(2 * n)
    coordinates = (raw % np.uint64(side)).astype(np.float64).reshape(n, 2)
    return TspFile(
        name=name or f"uniform{n}-{seed}",
        path=None,
        dimension=n,
        metric="EUC_2D",
        coordinates=coordinates,
        comment=f"{n} cities drawn evenly from a square of side {side}, seed {seed}",
    )


def demo_tsp() -> TspFile:
    """Return the instance that is embedded as `demo/tsp`."""
    return uniform_tsp(DEMO_CITIES, DEMO_SEED, DEMO_SIDE, name="demo")


def tsplib_text(file: TspFile) -> str:
    """Return an instance with whole coordinates in the format of TSPLIB."""
    assert file.coordinates is not None, "generated instances have coordinates"
    places = file.coordinates.astype(np.int64).tolist()
    head = [
        f"NAME : {file.name}",
        f"COMMENT : {file.comment}",
        "TYPE : TSP",
        f"DIMENSION : {file.dimension}",
        f"EDGE_WEIGHT_TYPE : {file.metric}",
        "NODE_COORD_SECTION",
    ]
    rows = [f"{city} {x} {y}" for city, (x, y) in enumerate(places, start=1)]
    return "\n".join([*head, *rows, "EOF", ""])
