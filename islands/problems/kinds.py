"""All kinds of solutions by name."""

from __future__ import annotations

from islands.problems.mixed import Mixed
from islands.problems.solution_kinds import Box, Choices, KeyVectors, Order, SolutionKind, Subset

SOLUTION_KINDS: dict[str, type[SolutionKind]] = {
    each.name: each for each in (Order, Subset, KeyVectors, Box, Choices, Mixed)
}
