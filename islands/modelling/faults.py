"""Invalid values of user functions, which kernels report, and their error messages."""

import numpy as np
from numpy.typing import NDArray

from islands.errors import RunError
from islands.problems.solution_kinds import SolutionKind

FAULTS = "_faults"
"""The member of `struct Data` to which kernels report invalid values of user functions
(kernels/problems/faults.cuh). Unlike user-defined names, it does not begin with a letter."""
_FAULT_KINDS = 7


def no_faults() -> NDArray[np.int64]:
    """Return an empty array of reports: for each kind of fault, a flag and the value."""
    return np.zeros((_FAULT_KINDS, 2), np.int64)


def wrong_violation(value: float) -> str:
    """Return the message about an invalid violation."""
    return (
        f"violation= returned {value:g}. Return 0 if a solution is feasible, and a positive number"
        " otherwise, such as max(0, load - capacity)"
    )


def reject_faults(
    words: NDArray[np.int64],
    argument: str,
    changer: str,
    kind: SolutionKind,
    *,
    maximise: bool,
    bits: int = 62,
) -> None:
    """Raise a `RunError` about the first reported kind of fault, if any.

    `argument` is the name of the cost function, and `changer` is the name of the code that may
    change a solution, "repair" or "state". Absolute integer costs are at most 2**`bits`.
    """
    reported = np.flatnonzero(words[:, 0])
    if not reported.size:
        return
    value = words[reported[0], 1]
    worst, best = ("-INFINITY", "INFINITY") if maximise else ("INFINITY", "-INFINITY")
    infeasible = f"Return a number, or {worst} if a solution is infeasible"
    real = "double" if argument == "cost" else "float(cost)"
    by_state = changer == "state"
    setter = "its apply or cross" if by_state else changer
    maker = "its cross" if by_state else changer
    messages = (  # in the order of `Fault` in kernels/problems/faults.cuh
        f"{argument}= returned NaN. {infeasible}",
        f"{argument}= returned {best}, which is better than any other cost. {infeasible}",
        f"{argument}= returned {value}: integer costs must be from -2**{bits} to 2**{bits}. Return"
        f" {real}, or divide costs by a common factor",
        f"{changer}= set entry {value}, but entries are from 0 to {kind.size - 1}. Correct"
        f" {setter}",
        f"{changer}= set an entry to {value.view(np.float64):g}, but a solution is {kind.words}."
        f" Correct {setter}",
        f"{changer}= created a solution that contains item {value} more than once, but a solution"
        f" is {kind.words}. Correct {maker}",
        wrong_violation(value.view(np.float64)),
    )
    raise RunError(messages[reported[0]])
