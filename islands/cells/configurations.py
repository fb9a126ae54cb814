"""The configurations of a tuning: values of `--over`, drawn at random or on a grid.

`--over KEY=A..B`, `KEY=A..B:log` or `KEY=a,b,c` is a domain. Random configurations use
counter-based random numbers: they depend only on the seed and the domains, and the first ones stay
the same if more are requested.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, NamedTuple, Protocol, get_type_hints

import numpy as np

from islands.algorithms import ALGORITHMS
from islands.configuration.given import PARTS
from islands.configuration.resolve import layers
from islands.encodings import ENCODINGS
from islands.errors import InputError, UsageError
from islands.presets import PRESETS
from islands.settings import Settings
from islands.text import meant, unknown

WORDS: Mapping[str, Collection[str]]
WORDS = {"preset": PRESETS, "algorithm": ALGORITHMS, "encoding": ENCODINGS}
"""Options that belong to no group of settings but also have a list of choices."""


class Owner(NamedTuple):
    """The group of settings that contains a key, and the key's name in the group."""

    group: type[Settings]
    prefix: str
    name: str


class Domain(Protocol):
    """The values that one setting takes."""

    @property
    def key(self) -> str:
        """The full name of the setting."""

    def drawn(self, share: float) -> Any:
        """Return the value for a random number in [0, 1)."""

    def points(self, steps: int) -> list[Any]:
        """Return at most `steps` values from the lowest to the highest."""


@dataclass(frozen=True)
class Choices:
    """A list of values."""

    key: str
    values: tuple[Any, ...]

    def drawn(self, share: float) -> Any:
        """Return each value with equal probability."""
        return self.values[int(share * len(self.values))]

    def points(self, steps: int) -> list[Any]:
        """Return all values, for any number of steps."""
        return list(self.values)


@dataclass(frozen=True)
class Reals:
    """Numbers from `low` to `high`, with six digits so that users can type them."""

    key: str
    low: float
    high: float
    is_log: bool = False

    def drawn(self, share: float) -> float:
        """Return uniformly distributed numbers or logarithms."""
        value = float(f"{_between(self.low, self.high, share, is_log=self.is_log):.6g}")
        return min(max(value, self.low), self.high)

    def points(self, steps: int) -> list[Any]:
        """Return equally spaced numbers or logarithms."""
        return list(dict.fromkeys(self.drawn(share) for share in _shares(steps)))


@dataclass(frozen=True)
class Integers:
    """Whole numbers from `low` to `high`."""

    key: str
    low: int
    high: int
    is_log: bool = False

    def drawn(self, share: float) -> int:
        """Return uniformly distributed numbers or logarithms; the ends are as likely as others."""
        return self._nearest(_between(self.low - 0.5, self.high + 0.5, share, is_log=self.is_log))

    def points(self, steps: int) -> list[Any]:
        """Return approximately equally spaced numbers or logarithms."""
        shares = _shares(steps)
        values = [_between(self.low, self.high, share, is_log=self.is_log) for share in shares]
        return list(dict.fromkeys(self._nearest(value) for value in values))

    def _nearest(self, value: float) -> int:
        return min(max(math.floor(value + 0.5), self.low), self.high)


def domain(text: str, owners: Mapping[str, Owner]) -> Domain:
    """Parse `--over TEXT`; `owners` maps full names of settings to their groups."""
    key, equals, values = (part.strip() for part in text.partition("="))
    if not (equals and key and values):
        raise UsageError(
            f"--over {text}: write KEY=A..B, KEY=A..B:log or KEY=a,b,c, such as --over rho=0.5..0.9"
        )
    (full,) = layers({key: None})[-1].values
    if full in WORDS:
        listed = tuple(meant(name, WORDS[full]) for name in _listed(text, full, values))
        for name in listed:
            if name not in WORDS[full]:
                raise UsageError(f"--over {text}: {unknown(full, name, WORDS[full])}")
        return Choices(full, listed)
    if full not in owners:
        raise UsageError(f"--over {text}: {unknown('setting to tune', key, [*owners, *WORDS])}")
    owner = owners[full]
    kind = get_type_hints(owner.group)[owner.name]
    if ".." not in values or full in PARTS:
        found = [_checked(text, owner, value) for value in _listed(text, full, values)]
        return Choices(full, tuple(dict.fromkeys(found)))
    if kind not in (int, float):
        raise UsageError(f"--over {text}: {full} is not a number. List its values: {full}=a,b,c")
    first, _, last = values.removesuffix(":log").partition("..")
    low, high = _checked(text, owner, first.strip()), _checked(text, owner, last.strip())
    is_log = values.endswith(":log")
    if not low < high:
        raise UsageError(
            f"--over {text}: the range is empty. Write the lower end first: {full}=A..B"
        )
    if is_log and low <= 0:
        raise UsageError(f"--over {text}: {low} has no logarithm. Begin above 0, or remove :log")
    return (Integers if kind is int else Reals)(full, low, high, is_log)


def _listed(text: str, key: str, values: str) -> tuple[str, ...]:
    """Return the distinct values of a list; parts of scripts by their names."""
    listed = tuple(dict.fromkeys(value.strip() for value in values.split(",")))
    if "" in listed:
        raise UsageError(f"--over {text}: a value is missing. Write KEY=a,b,c")
    return tuple(map(PARTS[key].name_of, listed)) if key in PARTS else listed


def _checked(text: str, owner: Owner, value: str) -> Any:
    """Return one value, converted and checked on its own, as other settings change too."""
    try:
        return owner.group.converted(owner.name, value, owner.prefix)
    except UsageError as error:
        raise UsageError(f"--over {text}: {error}") from None


def _shares(steps: int) -> list[float]:
    return [k / max(1, steps - 1) for k in range(steps)]


def _between(low: float, high: float, share: float, *, is_log: bool) -> float:
    if is_log:
        return math.exp(_between(math.log(low), math.log(high), share, is_log=False))
    return low + share * (high - low)


def require_distinct(domains: Sequence[Domain]) -> None:
    """Refuse a setting that is given twice."""
    seen: set[str] = set()
    for each in domains:
        if each.key in seen:
            raise UsageError(f"--over {each.key} is given twice. Give each setting once")
        seen.add(each.key)


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
