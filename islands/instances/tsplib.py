"""Read instances of the travelling salesman problem, and read and write tours.

The format is that of TSPLIB: G. Reinelt, TSPLIB 95, Universität Heidelberg, 1995.
"""

import math
from array import array
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from islands.instances import messages
from islands.instances.lines import Lines, decoded, quoted, whole
from islands.instances.solution_files import (
    SolutionWords,
    item_of,
    order_fault,
    read_json,
    solution_file,
    write_lines,
)
from islands.text import counted, one_line, unknown

_TOUR = SolutionWords("tour", "city", "cities", "visited")

MOST_CITIES = 10_000_000

FARTHEST = 1e11
"""Maximum coordinate, so that the length of a tour of `MOST_CITIES` cities fits into 64 bits."""


def read_coordinates(lines: Lines, n: int) -> NDArray[np.float64]:
    """Return the n coordinates of the section that begins on the next line, ordered by id."""
    lines.expect(f"DIMENSION {n} needs", 3 * n)
    ids, places, seen = array("q"), array("d"), bytearray(n)
    for row in range(n):
        line = lines.line()
        if line is None or begins_another(line):
            raise lines.error(
                f"the coordinates end after {row} of the {counted(n, 'city', 'cities')} that"
                " DIMENSION requires. Complete them, or correct DIMENSION"
            )
        words = line.split()
        if len(words) != 3:
            raise lines.error(f"{quoted(line)} is not of the form 'id x y'. Correct the line")
        city = _city(lines, words[0], n)
        if seen[city]:
            again = f"city {city + 1} is given twice. Number the cities 1 to {n}, each once"
            raise lines.error(again)
        seen[city] = 1
        ids.append(city)
        places.append(read_coordinate(lines, words[1]))
        places.append(read_coordinate(lines, words[2]))
    coordinates = np.empty((n, 2))
    coordinates[np.frombuffer(ids, np.int64)] = np.frombuffer(places).reshape(n, 2)
    return coordinates


def read_coordinate(lines: Lines, word: bytes) -> float:
    """Return a coordinate; reject a word that is not a number from -`FARTHEST` to `FARTHEST`."""
    try:
        place = float(word)
    except ValueError:
        place = math.nan
    if not -FARTHEST <= place <= FARTHEST or b"_" in word:
        raise lines.error(
            f"coordinate {quoted(word)} is not a number from {-FARTHEST:g} to {FARTHEST:g}. Correct"
            " it"
        )
    return place


def begins_another(words: bytes) -> bool:
    """Return whether a line begins a new section or ends the file."""
    keyword = words.upper()
    return keyword == b"EOF" or b"_SECTION" in keyword


def _city(lines: Lines, word: bytes, n: int) -> int:
    """Return the index, from 0, of the city with this number."""
    if (city := whole(word, n, 1)) is None:
        raise lines.error(
            f"city {quoted(word)} is not one of 1 to {n}. Correct it, or correct DIMENSION"
        )
    return city - 1


LARGEST = 20_000
"""Maximum number of cities with explicit weights; their matrix takes 1.6 GB."""

_WEIGHT_MAX = 2**31 - 1

# By symmetry, the columns of one triangle are the rows of the other.
_TRIANGLES = {
    "UPPER_ROW": ("upper", 1),
    "LOWER_ROW": ("lower", 1),
    "UPPER_DIAG_ROW": ("upper", 0),
    "LOWER_DIAG_ROW": ("lower", 0),
    "UPPER_COL": ("lower", 1),
    "LOWER_COL": ("upper", 1),
    "UPPER_DIAG_COL": ("lower", 0),
    "LOWER_DIAG_COL": ("upper", 0),
}
FORMATS = ("FULL_MATRIX", *_TRIANGLES)


def read_matrix(lines: Lines, form: str | None, n: int, kind: str) -> NDArray[np.int32]:
    """Return the matrix of the section that begins on the next line; its diagonal is 0.

    `kind` is the TYPE of the file; only the matrix of an ATSP may be asymmetric.
    """
    if form is None:
        raise lines.error(f"EDGE_WEIGHT_FORMAT is missing. Give one of {', '.join(FORMATS)}")
    if form not in FORMATS:
        raise lines.error(unknown("EDGE_WEIGHT_FORMAT", form, FORMATS))
    if n > LARGEST:
        raise lines.error(
            f"DIMENSION {n}: explicit weights are read for at most {LARGEST} cities, "
            "since the matrix must fit in memory. Give coordinates instead"
        )
    if form == "FULL_MATRIX":
        matrix = _read_weights(lines, n * n, n).reshape(n, n)
        if kind != "ATSP":
            _check_symmetry(lines, matrix, kind)
    else:
        matrix = _read_triangle(lines, *_TRIANGLES[form], n)
    # Some files have large numbers on the diagonal, which no tour uses.
    np.fill_diagonal(matrix, 0)
    return matrix


def _read_triangle(lines: Lines, side: str, offset: int, n: int) -> NDArray[np.int32]:
    weights = _read_weights(lines, n * (n + 1) // 2 - offset * n, n)
    is_given = np.tri(n, k=-offset, dtype=bool)
    if side == "upper":
        is_given = ~np.tri(n, k=offset - 1, dtype=bool)
    matrix = np.zeros((n, n), np.int32)
    matrix[is_given] = weights
    return matrix + matrix.T


def _read_weights(lines: Lines, count: int, n: int) -> NDArray[np.int32]:
    lines.expect(f"DIMENSION {n} needs", count)
    weights = array("i")
    while len(weights) < count:
        words = lines.words()
        if words is None or any(map(begins_another, words)):
            raise messages.too_few_weights(lines, n=n, count=len(weights), needed=count)
        weights.extend(_weight(lines, word) for word in words)
    if len(weights) > count:
        raise messages.too_many_weights(lines, n=n, needed=count)
    return np.frombuffer(weights, np.int32)


def _weight(lines: Lines, word: bytes) -> int:
    try:
        weight = int(word) if word.isdigit() else float(word)
    except ValueError:
        weight = -1
    if not 0 <= weight <= _WEIGHT_MAX or weight != int(weight) or b"_" in word:
        raise lines.error(
            f"weight {quoted(word)} is not a whole number from 0 to {_WEIGHT_MAX}. Correct it;"
            " scaling or shifting all weights does not change the best tour"
        )
    return int(weight)


def _check_symmetry(lines: Lines, matrix: NDArray[np.int32], kind: str) -> None:
    differs = np.tril(matrix != matrix.T)
    if differs.any():
        row, column = divmod(int(differs.argmax()), len(matrix))
        ends, there, back = (column + 1, row + 1), matrix[column, row], matrix[row, column]
        raise messages.asymmetric_weights(lines, kind=kind, ends=ends, there=there, back=back)


TYPES = ("TSP", "ATSP", "HPP")
"""Symmetric tours, directed tours, and paths with free ends."""

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
    """The content of a file: coordinates, or a matrix of weights if the metric is EXPLICIT.

    A file always has a metric; problems from scripts may have None, for unrounded distances.
    """

    name: str
    path: Path | None
    dimension: int
    metric: str | None
    coordinates: NDArray[np.float64] | None = None
    matrix: NDArray[np.int32] | None = None
    """Whole numbers, in units of `1 / unit`; -1 for a leg that does not exist."""
    comment: str = ""
    unit: float = 1
    ends: tuple[int | None, int | None] | None = None
    """The first and the last city of a path, None for any city; None for closed tours."""
    fixed: tuple[tuple[int, int], ...] = ()
    """Fixed edges, as pairs of cities counted from 0; directed unless lengths are symmetric."""
    labels: tuple[str, ...] | None = None
    """The names of the cities."""
    places: NDArray[np.float64] | None = None
    """Longitude and latitude of each city, only for pictures, if lengths come from a matrix."""


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
        self.fixed: tuple[tuple[int, int], ...] = ()
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
            known = "Specify a file in the format of TSPLIB"
            hint = "Remove it, or correct DIMENSION" if self.done else known
            raise self.lines.error(
                f"{quoted(line)} is neither 'KEYWORD : value' nor a section. {hint}"
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
        if key == "TYPE" and value.upper().partition(" ")[0] not in TYPES:
            raise self.lines.error(
                f"TYPE {_brief(value)} is not supported. Supported: TSP, ATSP, whose distances"
                " depend on the direction, and HPP, a path with free ends"
            )
        if key == "EDGE_WEIGHT_TYPE" and value.upper() not in METRICS:
            raise self.lines.error(
                f"EDGE_WEIGHT_TYPE {_brief(value)} is not supported. "
                f"Supported: {', '.join(METRICS)}"
            )
        if key == "DIMENSION":
            self._check_dimension(value)

    def _check_dimension(self, value: str) -> None:
        if whole(value.encode(), MOST_CITIES, 1) is None:
            raise self.lines.error(
                f"DIMENSION {_brief(value)}: must be a whole number from 1 to {MOST_CITIES}. "
                "Correct it to the number of cities in the file"
            )

    def _node_coord_section(self) -> None:
        self.coordinates = read_coordinates(self.lines, self._dimension())

    def _edge_weight_section(self) -> None:
        n = self._dimension()
        if self.values.get("EDGE_WEIGHT_TYPE") != "EXPLICIT":
            raise self.lines.error(
                "EDGE_WEIGHT_SECTION without 'EDGE_WEIGHT_TYPE : EXPLICIT' before it. "
                "Add that line, or remove the section"
            )
        form = self.values.get("EDGE_WEIGHT_FORMAT")
        self.matrix = read_matrix(self.lines, form, n, self._type())

    def _type(self) -> str:
        """Return the TYPE of the file; the default is TSP."""
        return self.values.get("TYPE", "TSP").split(maxsplit=1)[0]

    def _display_data_section(self) -> None:
        """Skip coordinates that are used only for drawing."""
        read_coordinates(self.lines, self._dimension())

    def _fixed_edges_section(self) -> None:
        """Read pairs of cities, up to -1."""
        n, numbers, ended = self._dimension(), list[int](), False
        self.lines.allow(2 * n + 1)
        while not ended:
            words = self.lines.words()
            if words is None or begins_another(words[0]):
                raise self.lines.error("FIXED_EDGES_SECTION ends without -1. Add it in a new line")
            for word in words:
                ended = word == b"-1"
                if ended:
                    break
                numbers.append(_city(self.lines, word, n))
        if len(numbers) % 2:
            raise self.lines.error("a fixed edge has one city. Give two, or remove it")
        self.fixed = tuple(zip(numbers[::2], numbers[1::2], strict=True))

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
            ends=(None, None) if self._type() == "HPP" else None,
            fixed=self.fixed,
        )


def _brief(value: str) -> str:
    return value if value.isprintable() and 0 < len(value) <= 40 else quoted(value.encode())


def read_tour(path: Path, n: int) -> NDArray[np.int64]:
    """Return the cities in a file, counted from 0, without checking that they are a tour."""
    path = solution_file(path, ".tour", _TOUR.whole)
    if path.suffix == ".json":
        return read_json(path, n, _TOUR)
    with Lines.open(path) as lines:
        lines.allow(2 * n)
        return _read_tsplib(lines)


def write_tour(
    path: Path,
    name: str,
    tour: NDArray[np.int64],
    length: float,
    facts: Iterable[tuple[str, str]] = (),
) -> None:
    """Write a tour, counted from 0, in TSPLIB's format, with settings (`facts`) as comments."""
    head = (
        f"NAME : {one_line(name)}",
        f"COMMENT : Length {length}",
        *(f"COMMENT : {key}={value}" for key, value in facts),
        "TYPE : TOUR",
        f"DIMENSION : {len(tour)}",
        "TOUR_SECTION",
    )
    write_lines(path, [*head, *map(str, (tour + 1).tolist()), "-1", "EOF"])


def read_facts(path: Path, n: int, names: Collection[str]) -> dict[str, str]:
    """Return the settings with these names in the comments of a tour of n cities.

    If several comments have the same name, their values are joined by commas.
    """
    path = solution_file(path, ".tour", _TOUR.whole)
    facts: dict[str, str] = {}
    if path.suffix == ".json" or not path.is_file():  # a pipe can be read only once
        return facts
    with Lines.open(path) as lines:
        lines.allow(2 * n)
        while (line := lines.line()) is not None and b":" in line:
            key, _, words = line.partition(b":")
            name, equals, value = decoded(words).strip().partition("=")
            if key.strip().upper() == b"COMMENT" and equals and name in names:
                facts[name] = f"{facts[name]},{value}" if name in facts else value
    return facts


def tour_fault(tour: NDArray[np.int64], n: int) -> str | None:
    """Return why `tour` is not a tour of n cities, or None."""
    return order_fault(tour, n, _TOUR)


def _read_tsplib(lines: Lines) -> NDArray[np.int64]:
    _skip_header(lines)
    tour = array("q")
    ended = False
    while (line := lines.line()) is not None and line.upper() != b"EOF":
        for word in line.split():
            if word == b"-1":
                ended = True
            elif ended:
                raise lines.error(f"{quoted(word)} begins a second tour. Keep one tour in the file")
            else:
                tour.append(item_of(lines, word, "a city"))
    if not tour:
        raise lines.error("the tour has no cities. Get the file again if it is truncated")
    return np.frombuffer(tour, np.int64)


def _skip_header(lines: Lines) -> None:
    line = lines.line()
    while line is not None and line.upper().rstrip(b" \t:") != b"TOUR_SECTION":
        key, colon, value = line.partition(b":")
        if not colon:
            raise lines.error(
                f"{quoted(line)} is neither 'KEYWORD : value' nor TOUR_SECTION. "
                "Specify a TSPLIB tour, a .json file with a list, or a run's folder"
            )
        if key.strip().upper() == b"TYPE" and value.strip().upper() != b"TOUR":
            raise lines.error(
                f"TYPE {quoted(value.strip())} is not TOUR. Specify a file with a tour"
            )
        line = lines.line()
    if line is None:
        raise lines.error("the file ends without TOUR_SECTION. Specify a file with a tour")
