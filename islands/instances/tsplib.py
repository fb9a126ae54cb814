"""Read instances of the symmetric travelling salesman problem in the format of TSPLIB95.

The format: G. Reinelt, TSPLIB 95, Universität Heidelberg, 1995.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from islands.instances.lines import Lines, decoded, shown
from islands.instances.tsplib_coordinates import MOST_CITIES, check_fits, read_coordinates
from islands.instances.tsplib_matrix import read_matrix
from islands.text import unknown

METRICS = ("EUC_2D", "CEIL_2D", "ATT", "GEO", "EXPLICIT")

_KEYWORDS = (
    "NAME",
    "TYPE",
    "COMMENT",
    "DIMENSION",
    "EDGE_WEIGHT_TYPE",
    "EDGE_WEIGHT_FORMAT",
    "NODE_COORD_TYPE",
    "DISPLAY_DATA_TYPE",
)


@dataclass(frozen=True)
class TspFile:
    """The content of a file: coordinates, or a matrix of weights if the metric is EXPLICIT."""

    name: str
    path: Path | None
    dimension: int
    metric: str
    coordinates: NDArray[np.float64] | None = None
    matrix: NDArray[np.int32] | None = None
    comment: str = ""


def read_tsp(path: Path) -> TspFile:
    """Return the instance in a file, plain or gzipped."""
    with Lines.open(path) as lines:
        return _Reader(lines).read()


class _Reader:
    """Reads a file in one pass; keywords are collected until a section needs them."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.values: dict[str, str] = {}
        self.comments: list[str] = []
        self.done: set[str] = set()
        self.coordinates: NDArray[np.float64] | None = None
        self.matrix: NDArray[np.int32] | None = None
        self.sections: dict[str, Callable[[], None]] = {
            "NODE_COORD_SECTION": self._node_coord_section,
            "EDGE_WEIGHT_SECTION": self._edge_weight_section,
            "DISPLAY_DATA_SECTION": self._display_data_section,
            "FIXED_EDGES_SECTION": self._fixed_edges_section,
        }

    def read(self) -> TspFile:
        line = self.lines.line()
        if line is None:
            raise self.lines.error("the file is empty. Get it again")
        line = line.removeprefix(b"\xef\xbb\xbf")
        while line is not None and line.upper() != b"EOF":
            self._take(line)
            line = self.lines.line()
        return self._result()

    def _take(self, line: bytes) -> None:
        key_raw, colon, value = line.partition(b":")
        written = key_raw.strip().decode("ascii", "replace")
        key = written.upper()
        if key in self.sections and not value.strip():
            self._once(key)
            self.sections[key]()
        elif not colon or not key[:1].isalpha():
            known = "Name a file in the format of TSPLIB"
            hint = "Remove it, or correct DIMENSION" if self.done else known
            raise self.lines.error(
                f"{shown(line)} is neither 'KEYWORD : value' nor a section. {hint}"
            )
        elif key not in _KEYWORDS:
            raise self.lines.error(unknown("keyword", written[:40], (*_KEYWORDS, *self.sections)))
        elif key == "COMMENT":
            self.comments.append(decoded(value).strip())
        else:
            self._once(key)
            self._keyword(key, decoded(value).strip())

    def _once(self, key: str) -> None:
        if key in self.done:
            raise self.lines.error(f"{key} is given twice. Remove one")
        self.done.add(key)

    def _keyword(self, key: str, value: str) -> None:
        self.values[key] = value if key == "NAME" else value.upper()
        # Some TSPLIB files name their author after the type.
        if key == "TYPE" and value.upper().split(maxsplit=1)[:1] != ["TSP"]:
            raise self.lines.error(
                f"TYPE {_brief(value)} is not supported. Supported: TSP, whose distances are the"
                " same in both directions"
            )
        if key == "EDGE_WEIGHT_TYPE" and value.upper() not in METRICS:
            raise self.lines.error(
                f"EDGE_WEIGHT_TYPE {_brief(value)} is not supported. "
                f"Supported: {', '.join(METRICS)}"
            )
        if key == "DIMENSION":
            self._check_dimension(value)

    def _check_dimension(self, value: str) -> None:
        plain = value.isascii() and value.isdigit() and len(value) < 20
        if not plain or not 1 <= int(value) <= MOST_CITIES:
            raise self.lines.error(
                f"DIMENSION {_brief(value)}: must be a whole number from 1 to {MOST_CITIES}. "
                "Correct it to the number of cities in the file"
            )
        check_fits(self.lines, int(value), int(value))

    def _node_coord_section(self) -> None:
        self.coordinates = read_coordinates(self.lines, self._dimension())

    def _edge_weight_section(self) -> None:
        n = self._dimension()
        if self.values.get("EDGE_WEIGHT_TYPE") != "EXPLICIT":
            raise self.lines.error(
                "EDGE_WEIGHT_SECTION without 'EDGE_WEIGHT_TYPE : EXPLICIT' before it. "
                "Add that line, or remove the section"
            )
        self.matrix = read_matrix(self.lines, self.values.get("EDGE_WEIGHT_FORMAT"), n)

    def _display_data_section(self) -> None:
        """Skip coordinates that serve only for drawing."""
        read_coordinates(self.lines, self._dimension())

    def _fixed_edges_section(self) -> None:
        raise self.lines.error(
            "FIXED_EDGES_SECTION is not supported: tours could miss the fixed edges. "
            "Remove the section to solve the instance without it (linhp318 is then lin318)"
        )

    def _dimension(self) -> int:
        return int(self._value("DIMENSION", "the number of cities"))

    def _value(self, key: str, meaning: str) -> str:
        if key not in self.values:
            raise self.lines.error(f"{key} is missing. Add '{key} : ...' with {meaning}")
        return self.values[key]

    def _result(self) -> TspFile:
        metric = self._value("EDGE_WEIGHT_TYPE", f"one of {', '.join(METRICS)}")
        section = "EDGE_WEIGHT_SECTION" if metric == "EXPLICIT" else "NODE_COORD_SECTION"
        dimension = self._dimension()
        if section not in self.done:
            raise self.lines.error(
                f"the file ends without the {section} that EDGE_WEIGHT_TYPE {metric} needs. "
                "Get it again if it is truncated, or add the section"
            )
        return TspFile(
            name=self.values.get("NAME", ""),
            path=self.lines.path,
            dimension=dimension,
            metric=metric,
            coordinates=self.coordinates,
            matrix=self.matrix,
            comment="\n".join(self.comments),
        )


def _brief(value: str) -> str:
    return value if value.isprintable() and 0 < len(value) <= 40 else shown(value.encode())
