"""Solutions of a warm start, placed among the individuals of generation 0."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from islands.backends.base import Backend
from islands.backends.state import State
from islands.encodings import Encoding
from islands.errors import UsageError
from islands.problems.base import Problem, Solution


def dealt(
    solutions: Sequence[Solution], mine: range, islands: int, population: int
) -> list[Sequence[Solution]]:
    """Deal the solutions to all islands in turn; return those of each island in `mine`."""
    most = islands * population
    if len(solutions) > most:
        raise UsageError(
            f"a warm start with {len(solutions)} solutions, but there are only {most} individuals."
            " Pass fewer solutions, or raise population or islands"
        )
    return [solutions[island::islands] for island in mine]


def place(
    solutions: Sequence[Sequence[Solution]],
    problem: Problem,
    encoding: Encoding,
    backend: Backend,
    state: State,
) -> None:
    """Check the solutions of each island, and make them its first individuals."""
    counts = np.array([len(each) for each in solutions], np.int32)
    backend.upload(counts, state.arrays["given"])
    genes = state.part("genes", 0)
    for island, own in enumerate(solutions):
        for slot, solution in enumerate(own):
            problem.check(solution)
            backend.upload(encoding.encode(problem.to_device(solution)), genes[island, slot])
