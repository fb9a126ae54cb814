"""A run whose settings are known: with its problem, all that a run depends on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

from islands.algorithms import ALGORITHMS
from islands.configuration.spec import RunSpec
from islands.parallel import Deal
from islands.problems.base import Problem


@dataclass(frozen=True)
class Resolved:
    """The settings of a run, and its problem with these settings.

    `resolve` makes it. It has no number of ranks, as the same run can be made on any number.
    """

    spec: RunSpec
    problem: Problem = field(compare=False)
    """Not compared, as the settings name it."""

    def deal(self, ranks: int) -> Deal:
        """Return which of the ranks have which islands."""
        spec = self.spec
        shares_all = not spec.colonies and ALGORITHMS[spec.algorithm].shares_all(self.problem)
        return Deal(spec.general.islands, ranks, shares_all)

    def later(self, runs: int) -> Self:
        """Return the run whose seed is larger by `runs`."""
        general = self.spec.general.later(runs)
        return replace(self, spec=replace(self.spec, general=general))
