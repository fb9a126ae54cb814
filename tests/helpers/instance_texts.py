"""Generated instances as the texts of files, such as those of `demo/`."""

from __future__ import annotations

import numpy as np

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
