"""Solutions that become individuals: those of a warm start, and those injected by a script."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.archipelago import messages
from islands.archipelago.memory import Memory
from islands.errors import RunError, UsageError
from islands.problems.arguments import integers, read_array, reals, require_shape
from islands.problems.base import Problem, Solution
from islands.text import shown

_LARGE = {"subset": "1 is a chosen item", "choices": "Values are counted from 0"}
"""The hint in the error about an entry that is too large, by kind of solution."""


def checked_solutions(
    problem: Problem, solutions: Any, most: int, call: str = "inject"
) -> list[Solution]:
    """Return the solutions as arrays; reject invalid ones, by index, and more than `most`.

    `call` is the argument or the function that received them.
    """
    if not isinstance(solutions, list | tuple | np.ndarray) or any(
        np.ndim(solution) == 0 and not isinstance(solution, Mapping) for solution in solutions
    ):
        raise messages.not_a_list(call, shown(solutions))
    if len(solutions) > most:
        raise messages.too_many_solutions(call, len(solutions), most)
    name = "solutions" if call == "inject" else call
    return [_checked(problem, f"{name}[{i}]", values) for i, values in enumerate(solutions)]


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


def replace_worst(solutions: Sequence[Sequence[Solution]], memory: Memory, generation: int) -> None:
    """Replace the worst individuals of each island by its solutions.

    Islands must be sorted before and after the call. Other fields of the individuals do not change.
    """
    upload, problem, state = memory.backend.upload, memory.parts.problem, memory.state
    order = memory.backend.download(state.arrays["order"])
    costs, changed = state.part("cost", generation), state.arrays.get("changed")
    for island, dealt in enumerate(solutions):
        for slot, solution in zip(order[island, ::-1].tolist(), dealt, strict=False):
            _write_genome(solution, memory, generation, island, slot)
            exact = problem.evaluation.device_costs(solution[np.newaxis])
            cost = 2 * exact if problem.scale.marks else exact  # all solutions are feasible
            upload(cost, costs[island, slot : slot + 1])
            if changed is not None:
                upload(np.ones(1, np.int32), changed[island, slot : slot + 1])


def _write_genome(
    solution: Solution, memory: Memory, generation: int, island: int, slot: int
) -> None:
    parts, genes = memory.parts, memory.state.part("genes", generation)
    genome = parts.encoding.encode(parts.problem.layout.to_device(solution))
    memory.backend.upload(genome, genes[island, slot])


def place(solutions: Sequence[Sequence[Solution]], memory: Memory) -> None:
    """Check the solutions of each island, and make them its first individuals."""
    counts = np.array([len(dealt) for dealt in solutions], np.int32)
    memory.backend.upload(counts, memory.state.arrays["given"])
    for island, dealt in enumerate(solutions):
        for slot, solution in enumerate(dealt):
            memory.parts.problem.check(solution)
            _write_genome(solution, memory, 0, island, slot)
