"""Choose configurations: the base, and random ones or a grid.

Random configurations use counter-based random numbers: they depend only on the seed and the
domains, and the first ones stay the same if more are requested.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import numpy as np

from islands.errors import InputError, UsageError
from islands.tune.domain import Domain

MAX_CONFIGURATIONS = 1000
_MAX_DRAWS = 100
"""Maximum number of draws per requested configuration."""

Values = dict[str, Any]
"""Values by the full names of the settings."""
Identify = Callable[[Values], str]
"""Returns a text that is unique to a configuration; raises `UsageError` or `InputError` if the
configuration is invalid or does not fit an instance."""


@dataclass(frozen=True)
class Configuration:
    """The values of the tuned settings; number 0 is the base, which changes no setting."""

    number: int
    values: Values

    def words(self) -> str:
        """Return the configuration as text."""
        return words_of(self.values)


def words_of(values: Values) -> str:
    """Return the values as text."""
    return " ".join(f"{key}={value}" for key, value in values.items()) or "as given"


@dataclass(frozen=True)
class Candidates:
    """The valid configurations, and the number of invalid ones."""

    configurations: tuple[Configuration, ...]
    refused: int
    refusal: str
    """The error of the last invalid configuration."""


def random(domains: Sequence[Domain], count: int, seed: int, identify: Identify) -> Candidates:
    """Return the base and `count` random configurations, or all if there are fewer."""
    _require_few(f"--configurations {count}", count, "Ask for fewer")
    draws = (_drawn(domains, seed, attempt) for attempt in range(count * _MAX_DRAWS))
    return _distinct(draws, count, identify)


def grid(domains: Sequence[Domain], steps: int, identify: Identify) -> Candidates:
    """Return the base and all combinations of values, with `steps` values per range."""
    _require_few(f"--grid {steps}: {steps} points", steps, "Take fewer steps or settings")
    values = [domain.points(steps) for domain in domains]
    size = math.prod(len(each) for each in values)
    _require_few(f"--grid {steps}: {size} points", size, "Take fewer steps or settings")
    keys = [domain.key for domain in domains]
    points = (dict(zip(keys, point, strict=True)) for point in product(*values))
    return _distinct(points, size, identify)


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


def _distinct(offered: Iterator[Values], count: int, identify: Identify) -> Candidates:
    """Return the base and the first `count` valid and distinct configurations."""
    found = {identify({}): Configuration(0, {})}
    refused: dict[str, str] = {}
    tried: set[str] = set()
    for values in offered:
        if len(found) > count:
            break
        # If few combinations exist, most draws repeat earlier ones.
        if (words := words_of(values)) in tried:
            continue
        tried.add(words)
        try:
            found.setdefault(identify(values), Configuration(len(found), values))
        except (UsageError, InputError) as error:
            refused[words] = str(error)
    refusal = next(reversed(refused.values()), "")
    if len(found) == 1:
        raise UsageError(f"--over: no configuration except the base is valid. {refusal}".strip())
    return Candidates(tuple(islice(found.values(), count + 1)), len(refused), refusal)
