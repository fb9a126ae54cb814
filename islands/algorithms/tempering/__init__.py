"""Parallel tempering: ladders of Markov chains, with one kind of chain per form of problem.

`algorithm.py` selects the kind of chain for a problem; the other files define the kinds and what
they have in common. The kernels are in `kernels/tempering`.

- `Tempering`: the algorithm, a subclass of `Algorithm`.
- `TemperingSettings`: its settings.
- chain: a class with the kernel header, the arrays of an island, and the rule for temperatures.

May import what `algorithms` may import.
"""

from islands.algorithms.tempering.algorithm import Tempering
from islands.algorithms.tempering.settings import TemperingSettings

__all__ = ["Tempering", "TemperingSettings"]
