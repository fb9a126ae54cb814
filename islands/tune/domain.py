"""The values of a tuned setting: `--over KEY=A..B`, `KEY=A..B:log` or `KEY=a,b,c`."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, get_type_hints

from islands.algorithms import ALGORITHMS
from islands.configuration.given import PARTS
from islands.configuration.resolve import layers
from islands.encodings import ENCODINGS
from islands.errors import UsageError
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
