"""What becomes of choices that exceed a capacity of a knapsack."""

from __future__ import annotations

from dataclasses import dataclass

from islands.problems.utilities import UTILITIES
from islands.settings import Settings, setting

WAYS = ("drop", "linear", "dynamic", "repair")
"""What becomes of infeasible choices, in the order of kernels/problems/mkp.cuh."""
PENALTIES = ("linear", "dynamic")
"""Those that leave them as they are."""


@dataclass(frozen=True)
class MkpSettings(Settings):
    """What becomes of infeasible choices."""

    infeasible: str = setting(
        "repair",
        "leave out random items, fine by excess or by weight, or leave out and add by utility",
        choices=WAYS,
    )
    penalty: float = setting(
        329.594,
        "of infeasible=linear: the fine a unit of excess",
        low=0,
        high=1e15,
        of="infeasible=linear",
    )
    fit_first: bool = setting(
        False,
        "of penalties: infeasible choices of the first generation lose random items until they fit,"
        " and take in those that still do",
        of="infeasible=linear or dynamic",
    )
    utilities: str = setting(
        "lp",
        "of infeasible=repair: profit a weight, priced by the duals of the linear relaxation, or"
        " by one over each capacity",
        choices=UTILITIES,
        of="infeasible=repair",
    )
    orders: int = setting(
        16,
        "of infeasible=repair: islands differ by so many orders of utility; 1: the plain one alone",
        low=1,
        high=1000,
        of="infeasible=repair",
    )
