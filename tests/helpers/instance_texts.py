"""Instances as the texts of files: generated ones, and one small knapsack in each format."""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from islands.instances.catalogue import BestKnown, Entry, catalogue
from islands.instances.mkp import MkpFile
from islands.instances.qaplib import QapFile
from islands.instances.solution_files import in_rows
from islands.instances.tsplib import TspFile
from islands.text import one_line


def tsplib_text(file: TspFile) -> str:
    """Return an instance with integer coordinates as a TSPLIB file, such as that of `demo/tsp`."""
    assert file.coordinates is not None, "generated instances have coordinates"
    places = file.coordinates.astype(np.int64).tolist()
    head = [
        f"NAME : {one_line(file.name)}",
        *(f"COMMENT : {one_line(line)}" for line in file.comment.split("\n")),
        "TYPE : TSP",
        f"DIMENSION : {file.dimension}",
        f"EDGE_WEIGHT_TYPE : {file.metric}",
        "NODE_COORD_SECTION",
    ]
    rows = [f"{city} {x} {y}" for city, (x, y) in enumerate(places, start=1)]
    return "\n".join([*head, *rows, "EOF", ""])


def qaplib_text(file: QapFile) -> str:
    """Return an instance in the format of QAPLIB, such as the file of `demo/qap`."""
    width = len(str(max(file.a.max(), file.b.max())))
    parts = [
        "\n".join(" ".join(f"{number:{width}}" for number in row) for row in matrix.tolist())
        for matrix in (file.a, file.b)
    ]
    return "\n\n".join([str(file.size), *parts]) + "\n"


def drake_text(file: MkpFile) -> str:
    """Return an instance without decimals in Drake's layout, such as the file of `demo/mkp`."""
    m, n = file.weights.shape
    head = f"{n} {m} {file.optimum or 0}"
    rows = [file.profits, *file.weights, file.capacities]
    lines = [line for row in rows for line in in_rows(row.tolist())]
    return "\n".join([head, *lines, ""])


def entry_of(name: str) -> tuple[Entry, BestKnown]:
    """Return an instance of the catalogue with its best known value."""
    entry = catalogue().entry(*name.split("/"))
    return entry, entry.best_known


PROFITS = [100, 600, 1200, 2400]
WEIGHTS = [[8, 12, 13, 64], [0, 5, 7, 1]]
CAPACITIES = [80, 9]
OPTIMUM = 3600

DRAKE = "4 2 3600\n100 600 1200 2400\n8 12 13 64\n0 5 7 1\n80 9\n"
SAC94 = "2 4\n100 600 1200 2400\n80 9\n8 12 13 64\n0 5 7 1\n\n3600\n"

SECOND = "2 1 0\n5 4\n3 2\n3\n"
COUNTED = f"2\n{DRAKE}{SECOND}"
TITLED = (Path(__file__).parents[1] / "instances" / "data" / "titled.txt").read_text()
"""Two instances below titles, as in the files of SAC-94."""


def write(folder: Path, name: str, text: str) -> Path:
    """Write a text unchanged to a file, and return its path."""
    path = folder / name
    path.write_text(text, newline="")
    return path


def content(file: MkpFile) -> tuple[list[int], list[list[int]], list[int], int | None]:
    numbers = (file.profits.tolist(), file.weights.tolist(), file.capacities.tolist())
    return (*numbers, file.optimum)


SMALL = (PROFITS, WEIGHTS, CAPACITIES, OPTIMUM)


@contextmanager
def peak_below(limit: int) -> Iterator[None]:
    """Assert that what runs inside allocates no more than `limit` bytes at any time."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < limit
    finally:
        tracemalloc.stop()
