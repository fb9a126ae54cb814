"""The longer messages about arguments that SciPy rejects as well.

Their first sentences are those of SciPy, as its tests compare them.
"""

import sys

INVALID_BOUNDS = (
    "bounds should be a sequence containing finite real valued (min, max) pairs for each value in x"
)
INVALID_MUTATION = (
    "The mutation constant must be a float in U[0, 2), or specified as a tuple(min, max) where"
    " min < max and min, max are in U[0, 2)."
)
UNKNOWN_POPULATION = (
    "The population initialization method must be one of 'latinhypercube', 'sobol', 'halton',"
    " 'random', or an array of shape (S, N) where N is the number of parameters and S > 4"
)
TWO_SEEDS = (
    "differential_evolution() got multiple values for argument now known as `rng`. Pass one of"
    " rng and seed"
)
INVALID_VALUES = (
    "The vectorized function must return an array of shape (S,) when given an array of shape"
    " (len(x), S)"
)
INVALID_MAP = (
    "The map-like callable must be of the form f(func, iterable), returning a sequence of numbers"
    " the same length as 'iterable'"
)
NO_INTEGERS = (
    "One of the integrality constraints does not have any possible integer values between the"
    " lower/upper bounds."
)


def too_large_entries(*, a: float, b: float) -> ValueError:
    """Return the error about matrices whose sum of products may not be finite."""
    return ValueError(
        f"`A` and `B` have entries of magnitude up to {a:.4g} and {b:.4g}, whose products may sum"
        f" up to more than {sys.float_info.max:.4g}. Divide one of them by a constant"
    )
