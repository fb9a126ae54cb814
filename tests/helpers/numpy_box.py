"""Operators on keys and vectors in plain Python, as the literature defines them."""

import math
from typing import Any

import numpy as np
import numpy_exact
from numpy_islands import CROSS, Place, below, philox, words

Genome = list[Any]


def highest(encoding: str) -> float:
    return 1.0 if encoding == "vector" else 1 - 2**-24


def clipped(value: float, encoding: str) -> float:
    rounded = value if encoding == "vector" else float(np.float32(value))
    return max(0.0, min(rounded, highest(encoding)))


def inner(word: int) -> float:
    return (word + 0.5) / 2**32


def crossed(kind: str, encoding: str, place: Place, a: Genome, b: Genome) -> tuple[Genome, Genome]:
    drawn = words(2 * len(a), CROSS, *place).reshape(-1, 2).tolist()
    cross = {"blend": blend, "sbx": sbx}[kind]
    genes = [
        [clipped(gene, encoding) for gene in cross(x, y, *word, highest(encoding))]
        for x, y, word in zip(a, b, drawn, strict=True)
    ]
    return [one for one, _ in genes], [other for _, other in genes]


def blend(x: float, y: float, one: int, other: int, top: float) -> tuple[float, float]:
    low, length = min(x, y), abs(x - y)
    first, second = (word / 2**32 * 2.0 - 0.5 for word in (one, other))
    return low + first * length, low + second * length


def sbx(x: float, y: float, drawn: int, coins: int, top: float) -> tuple[float, float]:
    low, high = min(x, y), max(x, y)
    if coins >> 31 or high - low < 1e-14:
        return x, y
    children = [
        0.5 * (low + high) + side * (0.5 * (high - low) * spread(room, high - low, inner(drawn)))
        for side, room in ((-1, low), (1, top - high))
    ]
    return (children[1], children[0]) if coins >> 30 & 1 else (children[0], children[1])


def spread(room: float, distance: float, share: float) -> float:
    power = 1.0 + 2.0 * room / distance
    for _ in range(4):
        power *= power
    scaled = share * (2.0 - 1.0 / power)
    root = scaled if scaled <= 1 else 1.0 / (2.0 - scaled)
    for _ in range(4):
        root = math.sqrt(root)
    return root


def philox_words(number: int, one: int, other: int) -> list[int]:
    counter = np.array([[number, 0, 0, 0]], np.uint64)
    return [int(word) for word in philox(counter, one | other << 32)[0]]


def mutated(kind: str, encoding: str, genome: Genome, one: int, other: int) -> Genome:
    n, child = len(genome), list(genome)
    mutate = {"gaussian": gaussian, "polynomial": polynomial}[kind]
    for i in range(n):
        coin = philox_words(i // 4, one, other)[i % 4]
        if i == below(one, n) or below(coin, n) == 0:
            drawn = philox_words(2**31 + i, one, other)
            child[i] = clipped(mutate(genome[i], drawn, highest(encoding)), encoding)
    return child


def gaussian(gene: float, drawn: list[int], top: float) -> float:
    radius = math.sqrt(-2.0 * numpy_exact.log(inner(drawn[0])))
    return gene + 0.1 * (radius * numpy_exact.cos(math.tau * (drawn[1] / 2**32)))


def polynomial(gene: float, drawn: list[int], top: float) -> float:
    def distance(room: float) -> float:
        left, share = 1.0 - room, inner(drawn[0])
        fourth = (left * left) * (left * left)
        eighth = fourth * fourth
        power = eighth * eighth * fourth * left
        return 1.0 - numpy_exact.pow(share + (1.0 - share) * power, 1.0 / 21.0)

    return gene - distance(gene) if drawn[1] >> 31 else gene + distance(top - gene)
