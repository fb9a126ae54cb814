"""A resolved run: its settings and its problem, which determine its result."""

from dataclasses import dataclass, field, replace
from typing import Self

from islands.algorithms import ALGORITHMS
from islands.configuration.spec import RunSpec
from islands.parallel import Deal
from islands.problems.base import Problem


@dataclass(frozen=True)
class Resolved:
    """The settings of a run, and its problem with these settings.

    It is created by `resolve`, and does not depend on the number of ranks.
    """

    spec: RunSpec
    problem: Problem = field(compare=False)
    """Excluded from comparisons, as the settings contain its name."""

    def deal(self, ranks: int) -> Deal:
        """Return the distribution of the islands over this number of ranks."""
        spec = self.spec
        shares_all = not spec.colonies and ALGORITHMS[spec.algorithm].shares_all(self.problem)
        return Deal(spec.general.islands, ranks, shares_all)

    def later(self, runs: int) -> Self:
        """Return the run with the seed increased by `runs`."""
        general = self.spec.general.later(runs)
        return replace(self, spec=replace(self.spec, general=general))
