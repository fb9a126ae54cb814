"""The longer messages about arguments that SciPy rejects as well; each function returns the error.

The first sentences are those of SciPy, as its own tests compare them.
"""

from __future__ import annotations

import sys


def too_large_entries(*, a: float, b: float) -> ValueError:
    """Return the error about matrices whose sum of products may not be finite."""
    return ValueError(
        f"`A` and `B` have entries of up to {a:.4g} and {b:.4g} in size, whose products may sum up"
        f" to more than {sys.float_info.max:.4g}. Divide one of them by a number"
    )


def invalid_mutation() -> ValueError:
    """Return the error about weights of differences that are not numbers from 0 to 2."""
    return ValueError(
        "The mutation constant must be a float in U[0, 2), or specified as a tuple(min, max) where"
        " min < max and min, max are in U[0, 2)."
    )


def unknown_population() -> ValueError:
    """Return the error about an unknown way to create the first population."""
    return ValueError(
        "The population initialization method must be one of 'latinhypercube', 'sobol', 'halton',"
        " 'random', or an array of shape (S, N) where N is the number of parameters and S > 4"
    )


def two_seeds() -> TypeError:
    """Return the error about a seed that is given by both of its names."""
    return TypeError(
        "differential_evolution() got multiple values for argument now known as `rng`. Pass one of"
        " rng and seed"
    )


def invalid_values_of_vectors() -> RuntimeError:
    """Return the error about a vectorized function that returns a wrong number of values."""
    return RuntimeError(
        "The vectorized function must return an array of shape (S,) when given an array of shape"
        " (len(x), S)"
    )


def invalid_map() -> RuntimeError:
    """Return the error about `workers` that is not like `map`."""
    return RuntimeError(
        "The map-like callable must be of the form f(func, iterable), returning a sequence of"
        " numbers the same length as 'iterable'"
    )
