"""Decide whether the best cost that a QAPLIB file states is accepted as the best known cost.

Some published files are wrong. A stated cost is accepted if the catalogue has the same value, or if
the solution file next to the instance has an assignment with this cost and the catalogue has no
better value for the same name and size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from islands.errors import InputError
from islands.instances.catalogue import BestKnown, catalogue
from islands.instances.sln import WORDS, read_sln
from islands.instances.solution_files import Remark, order_fault

if TYPE_CHECKING:
    from islands.problems.qap import Qap


def checked_best_known(problem: Qap) -> tuple[BestKnown | None, list[Remark]]:
    """Return the best known value of an instance, with remarks about the value in its file."""
    stated, known = problem.file.stated, problem.best_known
    words, value = stated.words(), stated.value
    remarks = [Remark("stated", value, f"the file says {words}")] if words else []
    if value is None:
        return known, remarks
    agrees, reason = _compared(problem, value)
    words = reason if agrees else f"this is not accepted as the best known: {reason}"
    remarks.append(Remark("stated_agrees", agrees, words))
    if known is None and agrees:
        known = BestKnown(value, "best_known", f"the file itself; {reason}")
    return known, remarks


def _compared(problem: Qap, value: int) -> tuple[bool, str]:
    """Return whether an independent source agrees with the value, and the reason."""
    known = problem.best_known
    if known is not None:
        agrees = known.value == value
        return agrees, "the catalogue agrees" if agrees else f"the catalogue has {known.value}"
    published = _published(problem)
    if published is None:
        return _solved(problem, value)
    best, name = published
    if best == value:
        return True, f"the catalogue agrees: {name} has this value"
    differs = f"the catalogue has {best} for {name}, with the same name and size"
    if best < value:
        return False, differs
    agrees, reason = _solved(problem, value)
    return agrees, f"{reason}; {differs}"


def confirmed(problem: Qap, name: str, cost: float) -> list[Remark]:
    """Return the remarks, given the cost of an assignment in the file `name`."""
    published = _published(problem)
    is_worse = published is not None and published[0] < cost
    if problem.best_known is not None or cost != problem.file.stated.value or is_worse:
        return list(problem.remarks)
    shown = Remark("stated_agrees", True, f"the assignment in {name} has this cost")
    return [shown if each.key == shown.key else each for each in problem.remarks]


def _published(problem: Qap) -> tuple[float, str] | None:
    """Return the best value in the catalogue for the same name and size, with its full name."""
    values = [
        (entry.best_known.value, entry.full_name)
        for entry in catalogue().named(problem.file.name)
        if (entry.problem, entry.size) == (problem.name, problem.size) and entry.best_known
    ]
    return min(values, default=None)


def _solved(problem: Qap, value: int) -> tuple[bool, str]:
    """Return whether the assignment in the solution file, or its inverse, has this cost, and why.

    The cost in the header of the solution file is ignored.
    """
    assert problem.path is not None, "a stated value is read from a file"
    name = f"{problem.file.name}.sln"
    paths = [problem.path.with_name(each) for each in (name, f"{name}.gz")]
    path = next((each for each in paths if each.exists()), None)
    if path is None:
        return False, f"there is no {name} next to it to confirm it"
    try:
        order = read_sln(path, problem.size).order
    except InputError as error:
        return False, f"{path.name} does not confirm it ({error})"
    fault = order_fault(order, problem.size, WORDS)
    if fault is not None:
        return False, f"{path.name} does not confirm it ({fault})"
    costs = problem.costs(np.stack([order, np.argsort(order)])).tolist()
    if value in costs:
        return True, f"the assignment in {path.name} has this cost"
    shown = " or, inverted, ".join(map(str, dict.fromkeys(costs)))
    return False, f"the assignment in {path.name} costs {shown}"
