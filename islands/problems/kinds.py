"""All kinds of solutions by name."""

from islands.problems.mixed import MixedKind
from islands.problems.solution_kinds import (
    ChoicesKind,
    KeysKind,
    OrderKind,
    SolutionKind,
    SubsetKind,
    VectorKind,
)

SOLUTION_KINDS: dict[str, type[SolutionKind]] = {
    kind.name: kind
    for kind in (OrderKind, SubsetKind, KeysKind, VectorKind, ChoicesKind, MixedKind)
}
