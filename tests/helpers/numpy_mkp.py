"""The treatments of infeasible choices in plain Python, item by item, and on a device."""

from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from numpy_islands import DROP, FILL, below, words

from islands.backends.arguments import Struct
from islands.backends.base import Backend
from islands.backends.source import Source
from islands.problems.mkp import Mkp


def evaluated(
    problem: Mkp, choice: NDArray[np.int64], seed: int, place: tuple[int, int, int], child: int = 0
) -> tuple[NDArray[np.int64], int]:
    """Return a choice after evaluation, in the file's order, and its cost on the device.

    `place` is island, generation and individual.
    """
    file, treatment = problem.file, problem.settings.infeasible
    choice = choice.copy()

    def feasible(tried: NDArray[np.int64]) -> bool:
        return bool((file.weights @ tried <= file.capacities).all())

    if treatment == "repair":
        by_utility = problem.orders[place[0] % len(problem.orders)]
        for item in by_utility[::-1]:
            if not feasible(choice):
                choice[item] = 0
        for item in by_utility:
            if not choice[item]:
                choice[item] = 1
                choice[item] = feasible(choice)
    fits_first = problem.settings.fit_first and place[1] == 0 and not feasible(choice)
    if treatment == "drop" or fits_first:
        step = 0
        while not feasible(choice):
            here = np.flatnonzero(choice)
            quad, number = divmod(step, 4)
            word = int(words(4, DROP, seed, *place, first_quad=child << 24 | quad)[number])
            choice[here[below(word, len(here))]] = 0
            step += 1
    if fits_first:
        first = below(words(1, FILL, seed, *place, first_quad=child)[0], problem.size)
        for item in [*range(first, problem.size), *range(first)]:
            if not choice[item]:
                choice[item] = 1
                choice[item] = feasible(choice)
    profit = int(file.profits @ choice)
    if treatment in ("repair", "drop"):
        return choice, -profit
    if feasible(choice):
        return choice, -2 * profit
    loads = file.weights @ choice
    if treatment == "linear":
        penalty = 0.0
        for price, excess in zip(problem.prices(), loads - file.capacities, strict=True):
            penalty += float(price) * max(0, int(excess))
        cost = int(penalty) - profit
    else:
        weight = weight_in_finest_unit(problem, loads)
        cost = int(np.float64(2**20) * float(weight) / float(profit)) + 1 if profit else 10**18
    return choice, 2 * cost + 1


def weight_in_finest_unit(problem: Mkp, loads: NDArray[np.int64]) -> int:
    """Return the sum of the loads in units of the file's last decimal."""
    file = problem.file
    written = [Fraction(file.shown(i, int(load))) for i, load in enumerate(loads)]
    weighing = [i for i, row in enumerate(file.weights) if row.any()]
    decimals = max((file.places[i] for i in weighing if file.places), default=0)
    weight = sum(written) * 10**decimals
    assert weight == int(weight)
    return int(weight)


KERNEL = Path(__file__).parents[1] / "problems" / "evaluated.cuh"


def packed(choices: ArrayLike) -> NDArray[np.uint32]:
    """Return choices as the device stores them, 32 items per word."""
    bits = np.ascontiguousarray(choices, np.uint8)
    bits = np.pad(bits, ((0, 0), (0, -bits.shape[1] % 32)))
    return np.packbits(bits, axis=1, bitorder="little").view("<u4").astype(np.uint32)


def unpacked(words: NDArray[np.uint32], n: int) -> NDArray[np.uint8]:
    """Return choices of n items from the words of the device."""
    bits = np.unpackbits(words.astype("<u4").view(np.uint8), axis=1, bitorder="little")
    assert not bits[:, n:].any(), "bits after the last item are set"
    return bits[:, :n]


def evaluate_choices(
    backend: Backend,
    problem: Mkp,
    choices: NDArray[np.int64],
    threads: int,
    child: int = 0,
    generation: int = 5,
) -> tuple[NDArray[np.int64], list[int]]:
    """Return choices after evaluation, in the file's order of items, and their costs.

    Choices are alternately in generation 0 and in `generation`.
    """
    n, count = problem.size, len(choices)
    order = problem.numbering()
    macros = problem.defines() | {"COSTS_MARKED": str(int(problem.scale.marks))}
    arrays = [backend.upload(array) for array in problem.arrays()]
    data = Struct(**{f"array{i}": array for i, array in enumerate(arrays)})
    source = Source(str(KERNEL), macros)
    room = backend.required_room(source, np.int32(n), data)
    block = backend.block(room, 16 * threads, count, fewest=threads)
    program = backend.compile(source, block)
    chosen, cost = backend.upload(packed(choices[:, order])), backend.empty((count,), np.int64)
    sizes = (np.int32(count), np.int32(n))
    when = (np.int32(child), np.int64(generation))
    call = backend.call(
        program, "check_evaluate", *sizes, data, *when, chosen, cost, blocks=count, room=room
    )
    backend.run([call])
    result = np.empty((count, n), np.int64)
    result[:, order] = unpacked(backend.download(chosen), n)
    return result, [int(each) for each in backend.download(cost)]


def random_choices(problem: Mkp, count: int = 40) -> NDArray[np.int64]:
    """Return random choices, from none to all of the items."""
    rng = np.random.default_rng(problem.size)
    shares = np.linspace(0, 1, count)[:, np.newaxis]
    return (rng.random((count, problem.size)) < shares).astype(np.int64)
