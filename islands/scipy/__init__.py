"""Functions with the interface of `scipy.optimize` that search with islands.

`differential_evolution` minimises a function, and `quadratic_assignment` matches two graphs.
They take the arguments of SciPy's functions and return an `OptimizeResult` with two more entries,
the `seed` and the `digest` of the search.

Internally, `Function` is evaluated within the bounds of `Variables`, under each `Constraint`.
May import the public interface, `calls`, `parallel` and `text`.
"""

from islands.scipy.assignment import quadratic_assignment as quadratic_assignment
from islands.scipy.evolution import differential_evolution as differential_evolution
