"""The random instances of the DIMACS challenge on the travelling salesman problem.

They are published as generators: `E` draws cities uniformly from a square, `C` in clusters around
random centres. This module reimplements them. Their integers do not depend on the machine, so the
files match the checksums of the catalogue.
"""

import math

import numpy as np
from numpy.typing import NDArray

SIDE = 1_000_000
"""The side of the square; clusters may reach beyond it."""
CITIES_A_CENTRE = 100

BASE = 1_000_000_000
"""Random numbers are smaller than this bound."""
_LAG, _SHORT_LAG = 55, 24
_WARM_UP = 165


def text(name: str, cities: int) -> str:
    """Return the TSPLIB file of the instance called `name`, such as E1k.0 or C316k.0."""
    index = int(name.partition(".")[2])
    seed = cities if index == 0 else 10 * cities + index
    points = clustered(cities, seed) if name.startswith("C") else uniform(cities, seed)
    head = f"NAME: {name}\nTYPE: TSP\nDIMENSION: {cities}\nEDGE_WEIGHT_TYPE: EUC_2D\n"
    rows = "".join(f"{city} {x} {y}\n" for city, (x, y) in enumerate(points.tolist(), start=1))
    return f"{head}NODE_COORD_SECTION\n{rows}EOF\n"


def uniform(cities: int, seed: int) -> NDArray[np.int64]:
    """Return the coordinates of uniformly drawn cities, like `portgen`."""
    return (random_numbers(2 * cities, seed) // (BASE // SIDE)).reshape(cities, 2)


def clustered(cities: int, seed: int) -> NDArray[np.int64]:
    """Return the coordinates of cities around random centres, like `portcgen`.

    Each city draws its centre, and then a pair of normal deviates by Marsaglia's polar method.
    """
    # On average, a city needs 1 + 2 * 4 / pi random numbers, which is about 3.5.
    stream = iter(random_numbers(5 * cities, seed).tolist())
    spread = SIDE / math.sqrt(cities)
    centres = [
        (next(stream) // (BASE // SIDE), next(stream) // (BASE // SIDE))
        for _ in range(cities // CITIES_A_CENTRE)
    ]
    points = np.empty((cities, 2), np.int64)
    for city in range(cities):
        x, y = centres[int(next(stream) / BASE * len(centres))]
        square = 1.0
        while square >= 1.0:
            u, v = 2 * (next(stream) / BASE) - 1, 2 * (next(stream) / BASE) - 1
            square = u * u + v * v
        radius = math.sqrt(-2 * math.log(square) / square)
        points[city] = x + int(v * radius * spread), y + int(u * radius * spread)
    return points


def random_numbers(count: int, seed: int) -> NDArray[np.int64]:
    """Return integers below 10^9 from Knuth's subtractive generator with lags 55 and 24."""
    begin = np.zeros(_LAG, np.int64)
    last, following = seed, 1
    begin[0] = seed
    for step in range(1, _LAG):
        place = 21 * step % _LAG
        begin[place] = following
        last, following = following, (last - following) % BASE
    # The original generator reads its state from the last entry to the first.
    numbers = np.empty(_LAG + _WARM_UP + count, np.int64)
    numbers[:_LAG] = begin[::-1]
    for start in range(_LAG, len(numbers), _SHORT_LAG):
        end = min(start + _SHORT_LAG, len(numbers))
        earlier, later = (
            numbers[start - _LAG : end - _LAG],
            numbers[start - _SHORT_LAG : end - _SHORT_LAG],
        )
        numbers[start:end] = (earlier - later) % BASE
    return numbers[_LAG + _WARM_UP :]
