"""The configurations of a tuning: random or on a grid, all of them valid and different.

Random configurations use counter-based random numbers: they depend only on the seed and the
domains, and the first ones stay the same if more are requested.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from islands.cells.domains import Domain
from islands.errors import InputError, UsageError

MAX_CONFIGURATIONS = 1000
_MAX_DRAWS = 100
"""Maximum number of draws per requested configuration."""

Values = dict[str, Any]
"""Values by the full names of the settings."""
Resolve = Callable[[Values], tuple[Any, ...]]
"""Returns the settings of a configuration on each instance; raises `UsageError` or `InputError` if
the configuration is invalid or does not fit an instance."""


@dataclass(frozen=True)
class Configuration:
    """The values of the tuned settings; number 0 is the base, which changes no setting."""

    number: int
    values: Values
    settings: tuple[Any, ...] = ()
    """All settings on each instance; no two configurations have the same."""


def words_of(values: Values) -> str:
    """Return the values of a configuration as text."""
    return " ".join(f"{key}={value}" for key, value in values.items()) or "as given"


@dataclass(frozen=True)
class Candidates:
    """The valid configurations, and the number of invalid ones."""

    configurations: tuple[Configuration, ...]
    rejected: int
    rejection: str
    """The error of the last invalid configuration."""


def random(domains: Sequence[Domain], count: int, seed: int, resolve: Resolve) -> Candidates:
    """Return the base and `count` random configurations, or all if there are fewer."""
    _require_few(f"--configurations {count}", count, "Ask for fewer")
    draws = (_drawn(domains, seed, attempt) for attempt in range(count * _MAX_DRAWS))
    return _distinct(draws, count, resolve)


def grid(domains: Sequence[Domain], steps: int, resolve: Resolve) -> Candidates:
    """Return the base and all combinations of values, with `steps` values per range."""
    _require_few(f"--grid {steps}: {steps} points", steps, "Take fewer steps or settings")
    values = [domain.points(steps) for domain in domains]
    size = math.prod(len(choices) for choices in values)
    _require_few(f"--grid {steps}: {size} points", size, "Take fewer steps or settings")
    keys = [domain.key for domain in domains]
    points = (dict(zip(keys, point, strict=True)) for point in product(*values))
    return _distinct(points, size, resolve)


def _require_few(what: str, count: int, hint: str) -> None:
    if count > MAX_CONFIGURATIONS:
        raise UsageError(f"{what}: must be at most {MAX_CONFIGURATIONS}. {hint}")


def _drawn(domains: Sequence[Domain], seed: int, attempt: int) -> Values:
    counter = np.array([0, attempt, 0, 0], np.uint64)
    shares = np.random.Generator(np.random.Philox(counter=counter, key=seed)).random(len(domains))
    return {
        domain.key: domain.drawn(float(share))
        for domain, share in zip(domains, shares, strict=True)
    }


def _distinct(offered: Iterable[Values], count: int, resolve: Resolve) -> Candidates:
    """Return the base and the first `count` valid configurations with different settings."""
    base = resolve({})
    drawn = {base: Configuration(0, {}, base)}
    tried, rejected, rejection = set[str](), 0, ""
    for values in offered:
        if len(drawn) > count:
            break
        # If few combinations exist, most draws repeat earlier ones.
        if (words := words_of(values)) in tried:
            continue
        tried.add(words)
        try:
            settings = resolve(values)
        except (UsageError, InputError) as error:
            rejected, rejection = rejected + 1, str(error)
        else:
            drawn.setdefault(settings, Configuration(len(drawn), values, settings))
    if len(drawn) == 1:
        raise UsageError(f"--over: no configuration except the base is valid. {rejection}".strip())
    return Candidates(tuple(drawn.values()), rejected, rejection)
