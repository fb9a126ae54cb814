"""Tours in files: TSPLIB's 1-based `.tour`, a 0-based JSON list, or a run's folder with one."""

from __future__ import annotations

import json
from array import array
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.errors import InputError
from islands.instances.lines import Lines, shown
from islands.paths import published, reading

_JSON_LEAST = 1 << 20
_JSON_CITY = 64
_CITY_MAX = 2**31 - 1


def read_tour(path: Path, n: int) -> NDArray[np.int64]:
    """Return the cities in a file, counted from 0; whether they are a tour of n is not checked."""
    with reading(path):
        if path.is_dir():
            path = path / "solution.tour"
            if not path.exists():
                raise InputError(
                    f"{path.parent}: is a folder without solution.tour. Name a tour file"
                )
    if path.suffix == ".json":
        return _read_json(path, _JSON_LEAST + _JSON_CITY * n)
    with Lines.open(path) as lines:
        lines.allow(2 * n)
        return _read_tsplib(lines)


def write_tour(path: Path, name: str, tour: NDArray[np.int64], length: int) -> None:
    """Write a tour, given counted from 0, as TSPLIB has it."""
    head = f"NAME : {name}\nCOMMENT : Length {length}\nTYPE : TOUR\nDIMENSION : {len(tour)}\n"
    cities = "\n".join(str(city + 1) for city in tour.tolist())
    with published(path) as temporary:
        temporary.write_text(f"{head}TOUR_SECTION\n{cities}\n-1\nEOF\n", encoding="utf-8")


def tour_fault(tour: NDArray[np.int64], n: int) -> str | None:
    """Return what keeps `tour` from visiting each of n cities once, with cities counted from 1."""
    outside = np.flatnonzero((tour < 0) | (tour >= n))
    if outside.size:
        return f"city {tour[outside[0]] + 1} at position {outside[0] + 1} is not one of 1 to {n}"
    visits = np.bincount(tour, minlength=n)
    # The first city that comes back, not the lowest one: it is where a reader would look.
    repeated = np.flatnonzero(visits[tour] > 1)
    if repeated.size:
        city = tour[repeated[0]]
        first, second = np.flatnonzero(tour == city)[:2] + 1
        return f"city {city + 1} is visited twice, at positions {first} and {second}"
    missing = np.flatnonzero(visits == 0)
    if missing.size:
        return f"city {missing[0] + 1} is not visited; the tour has {len(tour)} of {n} cities"
    return None


def _read_tsplib(lines: Lines) -> NDArray[np.int64]:
    _skip_header(lines)
    tour = array("q")
    ended = False
    while (line := lines.line()) is not None and line != b"EOF":
        for word in line.split():
            if word == b"-1":
                ended = True
            elif ended:
                raise lines.error(f"{shown(word)} begins a second tour. Leave one tour in the file")
            elif not word.isdigit() or len(word) > 10 or int(word) > _CITY_MAX:
                raise lines.error(f"{shown(word)} is not the number of a city. Correct it")
            else:
                tour.append(int(word) - 1)
    if not tour:
        raise lines.error("the tour has no cities. Get the file again if it is truncated")
    return np.frombuffer(tour, np.int64)


def _skip_header(lines: Lines) -> None:
    line = lines.line()
    while line is not None and line.rstrip(b" \t:") != b"TOUR_SECTION":
        key, colon, value = line.partition(b":")
        if not colon:
            raise lines.error(
                f"{shown(line)} is neither 'KEYWORD : value' nor TOUR_SECTION. "
                "Name a TSPLIB tour, a .json file with a list, or a run's folder"
            )
        if key.strip() == b"TYPE" and value.strip() != b"TOUR":
            raise lines.error(f"TYPE {shown(value.strip())} is not TOUR. Name a file with a tour")
        line = lines.line()
    if line is None:
        raise lines.error("the file ends without TOUR_SECTION. Name a file with a tour")


def _read_json(path: Path, largest: int) -> NDArray[np.int64]:
    """Return the list in a JSON file, or the one under `solution` in what `run --json` prints."""
    with reading(path):
        if path.stat().st_size > largest:
            raise InputError(f"{path}: is larger than {largest} bytes. Leave one tour in it")
        raw = path.read_bytes()
    try:
        content: Any = json.loads(raw)
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{path}: is not JSON ({problem}). Correct it") from None
    cities = content.get("solution") if isinstance(content, dict) else content
    if not isinstance(cities, list) or not cities:
        raise InputError(f"{path}: holds no list of cities. Write one such as [0, 2, 1]")
    for position, city in enumerate(cities):
        if type(city) is not int or abs(city) > _CITY_MAX:
            raise InputError(
                f"{path}: item {position} is {str(city)[:40]!r}, not a city's number. Correct it"
            )
    return np.array(cities, np.int64)
