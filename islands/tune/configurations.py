"""Which configurations are tried: the base, and random ones or those of a grid beside it.

Random ones are counted draws: they depend on the seed and the domains alone, and the first ones
stay the same where more are asked for.
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

MOST = 1000
"""Configurations, at most."""
_PATIENCE = 100
"""Draws for each configuration that is asked for, at most."""

Values = dict[str, Any]
"""By the full names of the settings."""
Identify = Callable[[Values], str]
"""Returns what tells a configuration from others; where it cannot be, of its settings or with an
instance, this is a `UsageError` or an `InputError`."""


@dataclass(frozen=True)
class Configuration:
    """The values of the settings that are tuned; number 0 is the base, which changes none."""

    number: int
    values: Values

    def words(self) -> str:
        """Return the configuration for a sentence."""
        return words_of(self.values)


def words_of(values: Values) -> str:
    """Return a configuration in words."""
    return " ".join(f"{key}={value}" for key, value in values.items()) or "as given"


@dataclass(frozen=True)
class Search:
    """The configurations, and how many others were met that cannot be."""

    configurations: tuple[Configuration, ...]
    refused: int
    refusal: str
    """Why the last of these cannot be."""


def random(domains: Sequence[Domain], count: int, seed: int, identify: Identify) -> Search:
    """Return the base and so many random configurations, or all where there are fewer."""
    _require_few(f"--configurations {count}", count, "Ask for fewer")
    draws = (_drawn(domains, seed, attempt) for attempt in range(count * _PATIENCE))
    return _distinct(draws, count, identify)


def grid(domains: Sequence[Domain], steps: int, identify: Identify) -> Search:
    """Return the base and all combinations of the values, ranges in so many steps."""
    values = [domain.points(steps) for domain in domains]
    size = math.prod(len(each) for each in values)
    _require_few(f"--grid {steps}: {size} points", size, "Take fewer steps or settings")
    keys = [domain.key for domain in domains]
    points = (dict(zip(keys, point, strict=True)) for point in product(*values))
    return _distinct(points, size, identify)


def _require_few(what: str, count: int, hint: str) -> None:
    if count > MOST:
        raise UsageError(f"{what}: must be at most {MOST}. {hint}")


def _drawn(domains: Sequence[Domain], seed: int, attempt: int) -> Values:
    counter = np.array([0, attempt, 0, 0], np.uint64)
    shares = np.random.Generator(np.random.Philox(counter=counter, key=seed)).random(len(domains))
    return {
        domain.key: domain.drawn(float(share))
        for domain, share in zip(domains, shares, strict=True)
    }


def _distinct(offered: Iterator[Values], count: int, identify: Identify) -> Search:
    """Return the base and the first so many that can be and differ from each other."""
    found = {identify({}): Configuration(0, {})}
    refused: dict[str, str] = {}
    tried: set[str] = set()
    for values in offered:
        if len(found) > count:
            break
        # Where there are few, most draws are of some that have been.
        if (words := words_of(values)) in tried:
            continue
        tried.add(words)
        try:
            found.setdefault(identify(values), Configuration(len(found), values))
        except (UsageError, InputError) as error:
            refused[words] = str(error)
    refusal = next(reversed(refused.values()), "")
    if len(found) == 1:
        raise UsageError(f"--over: no configuration but the base can be. {refusal}".strip())
    return Search(tuple(islice(found.values(), count + 1)), len(refused), refusal)
