"""Solutions that become individuals: those of a warm start, and those that a script injects."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.backends.base import Backend
from islands.backends.state import State
from islands.encodings import Encoding
from islands.errors import RunError, UsageError
from islands.problems.arguments import integers, read_array, reals, require_shape
from islands.problems.base import Problem, Solution
from islands.text import counted, shown

_LARGE = {"subset": "1 is a chosen item", "choices": "Values are counted from 0"}
"""What an error says of a number that is too large, by kind of solution."""


def checked_solutions(
    problem: Problem, solutions: Any, most: int, call: str = "inject"
) -> list[Solution]:
    """Return the solutions as arrays; refuse wrong ones by index, and more than `most`.

    `call` is the argument or the function that received them.
    """
    if not isinstance(solutions, list | tuple | np.ndarray) or any(
        np.ndim(each) == 0 and not isinstance(each, Mapping) for each in solutions
    ):
        begin, end = ("(", ")") if call == "inject" else ("=", "")
        raise UsageError(
            f"{call}{begin}{shown(solutions)}{end}: is not a list of solutions. Write"
            f" {call}{begin}[solution]{end}"
        )
    if len(solutions) > most:
        raise UsageError(
            f"{call}: {counted(len(solutions), 'solution')} for {counted(most, 'individual')}."
            " Pass fewer, or raise population or islands"
        )
    name = "solutions" if call == "inject" else call
    return [_checked(problem, f"{name}[{i}]", each) for i, each in enumerate(solutions)]


def _checked(problem: Problem, name: str, values: Any) -> Solution:
    if isinstance(values, Mapping):
        values = problem.kind.array_of(values)
    array = read_array(name, values, 1)
    require_shape(name, array, (problem.entries,), f"an entry for each item of {problem.instance}")
    solution: NDArray[Any]
    if (largest := problem.kind.largest) is not None:
        large = _LARGE.get(problem.kind.name, "Items are counted from 0")
        solution = integers(name, array, largest, fix="Pass whole numbers", large=large)
    else:
        solution = reals(name, array, sys.float_info.max)
    try:
        problem.check(solution)
    except RunError as error:
        raise UsageError(f"{name}: {error}") from error
    return solution


def replace_worst(
    solutions: Sequence[Sequence[Solution]],
    problem: Problem,
    encoding: Encoding,
    state: State,
    backend: Backend,
    generation: int,
) -> None:
    """Replace the worst individuals of each island by its solutions.

    Islands have to be sorted before and after. Other fields of the individuals stay.
    """
    order = backend.download(state.arrays["order"])
    genes, costs = state.part("genes", generation), state.part("cost", generation)
    changed = state.arrays.get("changed")
    one = np.ones((), np.int32)
    for island, own in enumerate(solutions):
        for slot, solution in zip(order[island, ::-1].tolist(), own, strict=False):
            backend.upload(encoding.encode(problem.layout.to_device(solution)), genes[island, slot])
            exact = problem.evaluation.device_costs(solution[np.newaxis])
            cost = 2 * exact if problem.scale.marks else exact  # all solutions are feasible
            backend.upload(cost, costs[island, slot : slot + 1])
            if changed is not None:
                backend.upload(one[np.newaxis], changed[island, slot : slot + 1])


def require_individuals(solutions: Sequence[Solution], most: int) -> None:
    """Refuse a warm start with more solutions than individuals."""
    if len(solutions) > most:
        raise UsageError(
            f"a warm start with {len(solutions)} solutions, but there are only {most} individuals."
            " Pass fewer solutions, or raise population or islands"
        )


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
            backend.upload(encoding.encode(problem.layout.to_device(solution)), genes[island, slot])
