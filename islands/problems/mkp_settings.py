"""Settings of the knapsack problem: how subsets that exceed a capacity are handled."""

from __future__ import annotations

from dataclasses import dataclass

from islands.problems.utilities import UTILITIES
from islands.settings import Settings, setting

WAYS = ("drop", "linear", "dynamic", "repair")
"""How infeasible subsets are handled, in the order of kernels/problems/mkp.cuh."""
PENALTIES = ("linear", "dynamic")
"""The ways that leave infeasible subsets unchanged and penalise them."""


@dataclass(frozen=True)
class MkpSettings(Settings):
    """How infeasible subsets are handled."""

    infeasible: str = setting(
        "repair",
        "how infeasible subsets are handled: drop random items, penalise the excess (linear),"
        " penalise the weight (dynamic), or drop and add items by utility (repair)",
        choices=WAYS,
    )
    penalty: float = setting(
        329.594,
        "penalty per unit of weight above a capacity",
        low=0,
        high=1e15,
        of="infeasible=linear",
    )
    fit_first: bool = setting(
        False,
        "whether to make the first generation feasible: drop random items until the rest fits,"
        " then add items that fit",
        of="infeasible=linear or dynamic",
    )
    utilities: str = setting(
        "lp",
        "utility of an item, its profit per weight: capacities are priced by the duals of the"
        " linear relaxation (lp) or by 1 / capacity (scaled)",
        choices=UTILITIES,
        of="infeasible=repair",
    )
    orders: int = setting(
        16,
        "number of item orders by utility that islands use; 1: only the exact order",
        low=1,
        high=1000,
        of="infeasible=repair",
    )
