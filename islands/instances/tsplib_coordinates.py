"""Read the sections of TSPLIB files with coordinates."""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

from islands.errors import InputError
from islands.instances.lines import Lines, shown
from islands.text import counted

MOST_CITIES = 10_000_000

FARTHEST = 1e11
"""Maximum coordinate, so that the length of a tour of `MOST_CITIES` fits into 64 bits."""

_SHORTEST_ROW = len("1 0 0\n")


def read_coordinates(lines: Lines, n: int) -> NDArray[np.float64]:
    """Return the n coordinates of the section that begins on the next line, ordered by id."""
    check_fits(lines, n, n * _SHORTEST_ROW)
    lines.allow(3 * n)
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
            raise lines.error(f"{shown(line)} is not of the form 'id x y'. Correct the line")
        ids.append(_id(lines, words[0], n, seen))
        places.append(read_coordinate(lines, words[1]))
        places.append(read_coordinate(lines, words[2]))
    coordinates = np.empty((n, 2))
    coordinates[np.frombuffer(ids, np.int64)] = np.frombuffer(places).reshape(n, 2)
    return coordinates


def read_coordinate(lines: Lines, word: bytes) -> float:
    """Return a coordinate; refuse a word that is not a number from -`FARTHEST` to `FARTHEST`."""
    try:
        place = float(word)
    except ValueError:
        raise _coordinate_error(lines, word) from None
    if not -FARTHEST <= place <= FARTHEST or b"_" in word:
        raise _coordinate_error(lines, word)
    return place


def begins_another(words: bytes) -> bool:
    """Return whether a new section or the end of the file interrupts the numbers."""
    keyword = words.upper()
    return keyword == b"EOF" or b"_SECTION" in keyword


def check_fits(lines: Lines, n: int, needed: int) -> None:
    """Refuse a file that is too short for its DIMENSION, before memory is allocated."""
    if needed > lines.longest + 1:
        raise lines.error(
            f"DIMENSION {n} needs at least {needed} bytes of data, and the file has at most "
            f"{lines.longest}. Get the file again if it is truncated, or correct DIMENSION"
        )


def _id(lines: Lines, word: bytes, n: int, seen: bytearray) -> int:
    """Return the index of a row's city, and mark it as seen."""
    city = int(word) if word.isdigit() and len(word) < 10 else 0
    if not 1 <= city <= n:
        raise lines.error(
            f"city {shown(word)} is not one of 1 to {n}. Correct it, or correct DIMENSION"
        )
    if seen[city - 1]:
        raise lines.error(f"city {city} is given twice. Number the cities 1 to {n}, each once")
    seen[city - 1] = 1
    return city - 1


def _coordinate_error(lines: Lines, word: bytes) -> InputError:
    return lines.error(
        f"coordinate {shown(word)} is not a number from {-FARTHEST:g} to {FARTHEST:g}. Correct it"
    )
