"""Functions with the interface of `scipy.optimize`, which search with islands.

`differential_evolution` minimises a function of Python, `quadratic_assignment` matches two graphs.
They take the arguments of SciPy's functions and return an `OptimizeResult`, which has the `seed`
and the `digest` of the search, too.

`Function` is what differential evolution evaluates, within a `Variables`, under each `Constraint`.
This folder imports the public interface, `calls`, `parallel` and `text` only.
"""

from islands.scipy.assignment import quadratic_assignment as quadratic_assignment
from islands.scipy.evolution import differential_evolution as differential_evolution
