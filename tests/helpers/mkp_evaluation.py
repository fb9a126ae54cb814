"""Evaluation of choices of a knapsack's items on a device."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.backends.arguments import Struct
from islands.backends.base import Backend
from islands.backends.source import Source
from islands.problems.mkp import Mkp

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
    macros = problem.defines() | {"COSTS_MARKED": str(int(problem.marks))}
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
