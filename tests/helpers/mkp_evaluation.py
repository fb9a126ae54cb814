"""Evaluation of choices of a knapsack's items on a device."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Struct
from islands.backends.base import Backend
from islands.backends.source import Source
from islands.problems.mkp import Mkp

KERNEL = Path(__file__).parents[1] / "problems" / "judged.cuh"


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
    numbering = problem.numbering()
    order = np.arange(n) if numbering is None else numbering
    words = -(-n // 32)
    bits = np.zeros((count, 32 * words), np.uint8)
    bits[:, :n] = choices[:, order]
    packed = np.packbits(bits, axis=1, bitorder="little").view("<u4").astype(np.uint32)
    macros = problem.defines() | {"COSTS_MARKED": str(int(problem.marks))}
    arrays = [backend.upload(array) for array in problem.arrays()]
    data = Struct(**{f"array{i}": array for i, array in enumerate(arrays)})
    source = Source(str(KERNEL), macros)
    room = backend.asked_room(source, np.int32(n), data)
    block = backend.block(room, 16 * threads, count, fewest=threads)
    program = backend.compile(source, block)
    chosen, cost = backend.upload(packed), backend.empty((count,), np.int64)
    sizes = (np.int32(count), np.int32(n))
    when = (np.int32(child), np.int64(generation))
    call = backend.call(
        program, "check_judge", *sizes, data, *when, chosen, cost, blocks=count, room=room
    )
    backend.run([call])
    seen = np.unpackbits(
        backend.download(chosen).astype("<u4").view(np.uint8), axis=1, bitorder="little"
    )
    assert not seen[:, n:].any(), "bits after the last item are set"
    result = np.empty((count, n), np.int64)
    result[:, order] = seen[:, :n]
    return result, [int(each) for each in backend.download(cost)]


def random_choices(problem: Mkp, count: int = 40) -> NDArray[np.int64]:
    """Return random choices, from none to all of the items."""
    rng = np.random.default_rng(problem.size)
    shares = np.linspace(0, 1, count)[:, np.newaxis]
    return (rng.random((count, problem.size)) < shares).astype(np.int64)
