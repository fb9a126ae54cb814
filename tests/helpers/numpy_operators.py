"""Random genomes, crossovers and mutations in plain Python, as textbooks define them."""

from typing import Any

import numpy as np
import numpy_box
from numpy.typing import NDArray
from numpy_islands import CROSS, below, fraction, words

Genome = list[Any]


def random_genome(n: int, encoding: str, stream: int, place: tuple[int, ...]) -> Genome:
    if encoding == "bits":
        drawn = words(-(-n // 32), stream, *place)
        return [int(drawn[i // 32]) >> i % 32 & 1 for i in range(n)]
    drawn = words(n, stream, *place)
    if encoding in ("keys", "vector"):
        return [float(gene) for gene in fraction(drawn, encoding)]
    order = list(range(n))
    for i in range(n - 1, 0, -1):
        other = below(drawn[i], i + 1)
        order[i], order[other] = order[other], order[i]
    return order


def segment(word: NDArray[np.uint64], n: int) -> range:
    """Return the positions between two cut points."""
    one, other = sorted((below(word[2], n), below(word[3], n)))
    return range(one, other + 1)


def pmx(kept: range, one: Genome, other: Genome) -> Genome:
    child: Genome = [None] * len(one)
    for i in kept:
        child[i] = one[i]
    for i in range(len(one)):
        if i not in kept:
            item = other[i]
            while item in child[kept.start : kept.stop]:
                item = other[one.index(item)]
            child[i] = item
    return child


def order(kept: range, one: Genome, other: Genome) -> Genome:
    n, end = len(one), kept.stop
    inside = one[kept.start : kept.stop]
    missing = [item for item in other[end:] + other[:end] if item not in inside]
    return missing[n - end :] + inside + missing[: n - end]


def cycle(one: Genome, other: Genome) -> Genome:
    child: Genome = [None] * len(one)
    source, next_source = one, other
    for start in range(len(one)):
        if child[start] is None:
            i = start
            while child[i] is None:
                child[i] = source[i]
                i = one.index(other[i])
            source, next_source = next_source, source
    return child


def uniform_order(coins: list[int], draws: list[int], one: Genome, other: Genome) -> Genome:
    n = len(one)
    child: Genome = [None] * n
    for i in range(n):
        item = one[i] if coins[i] else other[i]
        if item not in child:
            child[i] = item
    left = [item for item in range(n) if item not in child]
    empty = sorted((draws[i] >> 1, i) for i in range(n) if child[i] is None)
    for item, (_, i) in zip(left, empty, strict=True):
        child[i] = item
    return child


def uniform_like(coins: list[int], order: list[int], one: Genome, other: Genome) -> Genome:
    child: Genome = [None] * len(one)
    for i in order:
        mates = [other[i], one[i]] if coins[i] else [one[i], other[i]]
        child[i] = next((item for item in mates if item not in child), None)
    left = iter(item for item in range(len(one)) if item not in child)
    for i in order:
        child[i] = next(left) if child[i] is None else child[i]
    return child


def crossed(
    kind: str, encoding: str, word: NDArray[np.uint64], place: tuple[int, ...], a: Genome, b: Genome
) -> tuple[Genome, Genome]:
    n = len(a)
    if kind == "pmx":
        return pmx(segment(word, n), a, b), pmx(segment(word, n), b, a)
    if kind == "order":
        return order(segment(word, n), a, b), order(segment(word, n), b, a)
    if kind == "cycle":
        return cycle(a, b), cycle(b, a)
    if kind == "uniform_like":
        drawn = words(n, CROSS, *place)
        places = list(range(n))
        for i in reversed(range(1, n)):
            j = below(drawn[i], i + 1)
            places[i], places[j] = places[j], places[i]
        coins = [int(word) & 1 for word in drawn]
        return uniform_like(coins, places, a, b), uniform_like(coins, places, b, a)
    if kind == "one_point":
        coins = [int(i < 1 + below(word[2], n - 1)) for i in range(n)]
    elif kind in ("blend", "sbx"):
        return numpy_box.crossed(kind, encoding, place, a, b)
    elif kind == "two_point":
        coins = [int(i in segment(word, n)) for i in range(n)]
    else:
        assert kind == "uniform", f"write a reference of {kind} here"
        drawn = words(-(-n // 32), CROSS, *place)
        coins = [int(drawn[i // 32]) >> i % 32 & 1 for i in range(n)]
        if encoding == "permutation":
            draws = [
                [int(word) for word in words(n, CROSS, *place, first_quad=child << 28)]
                for child in (1, 2)
            ]
            return uniform_order(coins, draws[0], a, b), uniform_order(coins, draws[1], b, a)
    pairs = list(zip(coins, a, b, strict=True))
    return [x if coin else y for coin, x, y in pairs], [y if coin else x for coin, x, y in pairs]


def mutated(kind: str, encoding: str, genome: Genome, one: int, other: int) -> Genome:
    n = len(genome)
    child, u, v = list(genome), below(one, n), below(other, n)
    if kind == "mixed":
        word = numpy_box.philox_words(0, int(one), int(other))[0]
        kind = ("swap", "insertion", "reversal")[3 * word >> 32]
    if kind == "swap":
        child[u], child[v] = child[v], child[u]
    elif kind == "insertion":
        child.insert(v, child.pop(u))
    elif kind == "reversal":
        first, end = min(u, v), max(u, v) + 1
        child[first:end] = reversed(child[first:end])
    elif kind == "flip":
        child[u] = 1 - child[u]
    elif kind in ("gaussian", "polynomial"):
        return numpy_box.mutated(kind, encoding, genome, int(one), int(other))
    else:
        assert kind == "reset", f"write a reference of {kind} here"
        child[u] = {
            "keys": (int(other) >> 8) / 2**24,
            "bits": int(other) >> 31,
            "vector": int(other) / 2**32,
        }[encoding]
    return child
