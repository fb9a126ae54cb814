"""Tours in files: TSPLIB's 1-based `.tour`, a 0-based JSON list, or the folder of a run."""

from __future__ import annotations

from array import array
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from islands.instances.lines import Lines, shown
from islands.instances.orders import ENTRY_MAX, Words, order_fault, read_json, solution_file
from islands.paths import published
from islands.text import one_line

_WORDS = Words("tour", "city", "cities", "visited")


def read_tour(path: Path, n: int) -> NDArray[np.int64]:
    """Return the cities in a file, counted from 0, without checking that they are a tour."""
    path = solution_file(path, ".tour", _WORDS.whole)
    if path.suffix == ".json":
        return read_json(path, n, _WORDS)
    with Lines.open(path) as lines:
        lines.allow(2 * n)
        return _read_tsplib(lines)


def write_tour(path: Path, name: str, tour: NDArray[np.int64], length: int) -> None:
    """Write a tour, counted from 0, in TSPLIB's format."""
    head = (
        f"NAME : {one_line(name)}",
        f"COMMENT : Length {length}",
        "TYPE : TOUR",
        f"DIMENSION : {len(tour)}",
        "TOUR_SECTION",
    )
    cities = (str(city + 1) for city in tour.tolist())
    with published(path) as temporary:
        temporary.write_text("\n".join([*head, *cities, "-1", "EOF", ""]), encoding="utf-8")


def tour_fault(tour: NDArray[np.int64], n: int) -> str | None:
    """Return why `tour` is no tour of n cities (numbered from 1), or None."""
    return order_fault(tour, n, _WORDS)


def _read_tsplib(lines: Lines) -> NDArray[np.int64]:
    _skip_header(lines)
    tour = array("q")
    ended = False
    while (line := lines.line()) is not None and line.upper() != b"EOF":
        for word in line.split():
            if word == b"-1":
                ended = True
            elif ended:
                raise lines.error(f"{shown(word)} begins a second tour. Keep one tour in the file")
            elif not word.isdigit() or len(word) > 10 or int(word) > ENTRY_MAX:
                raise lines.error(f"{shown(word)} is not the number of a city. Correct it")
            else:
                tour.append(int(word) - 1)
    if not tour:
        raise lines.error("the tour has no cities. Get the file again if it is truncated")
    return np.frombuffer(tour, np.int64)


def _skip_header(lines: Lines) -> None:
    line = lines.line()
    while line is not None and line.upper().rstrip(b" \t:") != b"TOUR_SECTION":
        key, colon, value = line.partition(b":")
        if not colon:
            raise lines.error(
                f"{shown(line)} is neither 'KEYWORD : value' nor TOUR_SECTION. "
                "Name a TSPLIB tour, a .json file with a list, or a run's folder"
            )
        if key.strip().upper() == b"TYPE" and value.strip().upper() != b"TOUR":
            raise lines.error(f"TYPE {shown(value.strip())} is not TOUR. Name a file with a tour")
        line = lines.line()
    if line is None:
        raise lines.error("the file ends without TOUR_SECTION. Name a file with a tour")
