"""Read the tables of routing engines: durations or distances between all pairs of places.

The supported responses are those of OSRM's table service, Valhalla's sources_to_targets and
GraphHopper's matrix.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.errors import UsageError
from islands.text import one_line, shown, unknown
from islands.untrusted import bounded_text, followed, parsing

_LARGEST_FILE = 1 << 32  # bytes
_VALHALLA = "sources_to_targets"
_CELLS = ("time", "distance")
"""The fields of the cells in Valhalla's tables."""
_FIELDS = ("durations", "times", "distances", "weights")
"""The matrices of the other engines, and of Valhalla's short form; the first one is the default."""
_SAME: tuple[tuple[str, ...], ...] = (("durations", "times", "time"), ("distances", "distance"))
"""Fields of different engines, or of both forms of Valhalla, with the same meaning."""


@dataclass(frozen=True)
class RoadTable:
    """A table of durations or distances; infinity means that there is no route."""

    values: NDArray[np.float64]
    labels: tuple[str, ...] | None
    places: NDArray[np.float64] | None
    """Longitude and latitude of each place."""


def read_table(source: Mapping[str, Any] | str | Path, field: str | None) -> RoadTable:
    """Return the table in a response, or in a JSON file that contains a response."""
    if isinstance(source, Mapping):
        return _table(source, "distances", field)
    path = Path(source)
    text = bounded_text(path, _LARGEST_FILE, followed)
    with parsing(path, "is not JSON", "Pass the response of a routing engine"):
        content: Any = json.loads(text)
    if not isinstance(content, dict):
        raise UsageError(f"{path}: is not the response of a routing engine, which is a JSON object")
    return _table(content, str(path), field)


def _table(response: Mapping[str, Any], name: str, field: str | None) -> RoadTable:
    matrices = _matrices(response, name)
    code = response.get("code", response.get("error_code", "Ok"))
    words = response.get("message", response.get("error"))
    if code != "Ok" or (words is not None and not matrices):
        said = "" if code == "Ok" else f" {shown(code)}"
        words = one_line(str(words or "no table")).rstrip(".")
        raise UsageError(
            f"{name}: the routing engine reported{said}: {words}. Pass a response with a table"
        )
    if not matrices:
        raise UsageError(
            f"{name}: has none of {', '.join((*_FIELDS, _VALHALLA))}, which tables of OSRM,"
            " Valhalla and GraphHopper have. Pass such a response, or a matrix"
        )
    first = next(iter(matrices))
    if not (field is None or (isinstance(field, str) and field)):
        raise UsageError(f"field={shown(field)}: must be the name of a field, such as {first!r}")
    chosen = field or first
    if chosen not in matrices:
        alike = next((fields for fields in _SAME if chosen in fields), ())
        chosen = next((name for name in matrices if name in alike), chosen)
    if chosen not in matrices:
        raise UsageError(f"field={shown(chosen)}: {unknown('field', chosen, matrices)}")
    values = _values(matrices[chosen], f"{name}[{chosen!r}]")
    labels, places = _about(response, name, len(values))
    return RoadTable(values, labels, places)


def _matrices(response: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the matrices of a response by field, the default first."""
    cells = response.get(_VALHALLA)
    if isinstance(cells, Mapping):  # the short form
        return _matrices(cells, name)
    if isinstance(cells, list):
        rows_are_lists = all(isinstance(row, list) for row in cells)
        if not rows_are_lists or any(
            not (cell is None or isinstance(cell, Mapping)) for row in cells for cell in row
        ):
            raise UsageError(
                f"{name}[{_VALHALLA!r}]: must have a row for each place, a list of cells such as"
                ' {"time": 60, "distance": 1.5}. Pass the response as it came'
            )
        return {
            field: [[cell and cell.get(field) for cell in row] for row in cells]
            for field in _CELLS
            if any(cell and field in cell for row in cells for cell in row)
        }
    return {field: response[field] for field in _FIELDS if response.get(field) is not None}


def _values(rows: Any, name: str) -> NDArray[np.float64]:
    """Return a matrix of numbers, with infinity for None."""
    try:
        lengths = [[np.inf if cell is None else cell for cell in row] for row in rows]
        if any(isinstance(length, str | bool) for row in lengths for length in row):
            raise TypeError
        values = np.array(lengths).astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{name}: must have a row of numbers or null for each place") from None
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise UsageError(
            f"{name}: has the shape {values.shape}, must be square. Ask for the table with the same"
            " sources and destinations"
        )
    return values


def _about(
    response: Mapping[str, Any], name: str, count: int
) -> tuple[tuple[str, ...] | None, NDArray[np.float64] | None]:
    """Return the names and the coordinates of the cities, or None for what the response lacks.

    If only some cities have names, the numbers of the others replace the missing names.
    """
    sources = response.get("sources")
    targets = response.get("destinations", response.get("targets", sources))
    if not isinstance(sources, list):
        return None, None
    flat = _flat(sources)
    points = [*map(_point, flat)]
    differ = isinstance(targets, list) and [*map(_point, _flat(targets))] != points
    if len(flat) != count or differ:
        raise UsageError(
            f"{name}: sources and destinations differ. Ask for a table without them, or with the"
            " same ones"
        )
    given = [place.get("name") for place in flat if isinstance(place, Mapping)]
    names = tuple(str(name or city) for city, name in enumerate(given))
    places = None if None in points else np.array(points, np.float64)
    return names if any(given) and len(given) == count else None, places


def _flat(places: list[Any]) -> list[Any]:
    """Return a list of places, with nested lists flattened."""
    return [place for part in places for place in (part if isinstance(part, list) else [part])]


def _point(place: Any) -> tuple[float, float] | None:
    """Return longitude and latitude of a place, or None."""
    try:
        lon, lat = place["location"] if "location" in place else (place["lon"], place["lat"])
        return float(lon), float(lat)
    except (KeyError, TypeError, ValueError):
        return None
