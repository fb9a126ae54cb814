"""The values of a tuned setting: `--over KEY=A..B`, `KEY=A..B:log` or `KEY=a,b,c`."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from islands.algorithms import ALGORITHMS
from islands.configuration.given import ALIASES, PARTS
from islands.configuration.spec import GROUPS, GeneralSettings
from islands.encodings import ENCODINGS
from islands.errors import UsageError
from islands.presets import PRESETS
from islands.problems.base import Problem
from islands.settings import Settings
from islands.text import meant, unknown

NOT_TUNED = ("seed", "backend", "threads", "bound")
"""General settings that cannot be tuned."""
_WORDS: Mapping[str, Collection[str]]
_WORDS = {"preset": PRESETS, "algorithm": ALGORITHMS, "encoding": ENCODINGS}
"""Options that belong to no group of settings but have a list of choices."""


@dataclass(frozen=True)
class Choices:
    """A list of values."""

    key: str
    """The full name of the setting."""
    values: tuple[Any, ...]

    def drawn(self, share: float) -> Any:
        """Return the value for a random number in [0, 1): all are equally likely."""
        return self.values[int(share * len(self.values))]

    def points(self, _steps: int) -> list[Any]:
        """Return all values, for any number of steps."""
        return list(self.values)


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, on a logarithmic scale if `is_log`.

    They are integers if both ends are; others are rounded to six digits, so that one can type them.
    """

    key: str
    low: float
    high: float
    is_log: bool = False

    def drawn(self, share: float) -> float:
        """Return the value for a random number in [0, 1); integer ends are as likely as others."""
        return self._at(share, 0.5 if isinstance(self.low, int) else 0.0)

    def points(self, steps: int) -> list[Any]:
        """Return at most `steps` numbers at equal distances, from the lowest to the highest."""
        return list(dict.fromkeys(self._at(k / max(1, steps - 1)) for k in range(steps)))

    def _at(self, share: float, beyond: float = 0.0) -> float:
        """Return the number at a share of the range, which is extended by `beyond` at both ends."""
        low, high = self.low - beyond, self.high + beyond
        if self.is_log:
            low, high = math.log(low), math.log(high)
        value = low + share * (high - low)
        value = math.exp(value) if self.is_log else value
        is_whole = isinstance(self.low, int)
        nearest = math.floor(value + 0.5) if is_whole else float(f"{value:.6g}")
        return min(max(nearest, self.low), self.high)


Domain = Choices | Range
Groups = Mapping[str, type[Settings]]
"""The group of settings of each full name, such as `migration.interval`."""


def full_name(text: str) -> str:
    """Return the full name of the setting of `--over TEXT`."""
    key = text.partition("=")[0].strip()
    return ALIASES.get(key, key)


def tunable(algorithm: str, problem: Problem) -> Groups:
    """Return the settings that can be tuned with an algorithm on a problem."""
    classes: list[type[Settings]] = [ALGORITHMS[algorithm].Settings, problem.Settings]
    groups = {name: group for group in classes for name in group.names()}
    groups |= {name: GeneralSettings for name in GeneralSettings.names() if name not in NOT_TUNED}
    for prefix, group in GROUPS.items():
        groups |= {f"{prefix}.{name}": group for name in group.names()}
    return groups


def domain(text: str, groups: Groups) -> Domain:
    """Parse `--over TEXT`, a domain of one of the settings in `groups`."""
    try:
        return _domain(text, groups)
    except UsageError as error:
        raise UsageError(f"--over {text}: {error}") from None


def _domain(text: str, groups: Groups) -> Domain:
    name, _, values = (part.strip() for part in text.partition("="))
    if not (name and values):
        raise UsageError("write KEY=A..B, KEY=A..B:log or KEY=a,b,c, such as --over rho=0.5..0.9")
    key = full_name(text)
    listed = [*dict.fromkeys(map(str.strip, values.split(",")))]
    if "" in listed:
        raise UsageError("a value is missing. Write KEY=a,b,c")
    if key in PARTS:
        listed = [*map(PARTS[key].name_of, listed)]
    if key in _WORDS:
        words = [meant(word, _WORDS[key]) for word in listed]
        for word in words:
            if word not in _WORDS[key]:
                raise UsageError(unknown(key, word, _WORDS[key]))
        return Choices(key, tuple(words))
    if key not in groups:
        raise UsageError(unknown("setting to tune", name, [*groups, *_WORDS]))
    if ".." in values and key not in PARTS:
        return _range(key, values, groups[key])
    # Check each value only on its own: whether it fits depends on the other settings.
    checked = [_checked(key, value, groups[key]) for value in listed]
    return Choices(key, tuple(dict.fromkeys(checked)))


def _range(key: str, values: str, group: type[Settings]) -> Range:
    if get_type_hints(group)[key.rpartition(".")[2]] not in (int, float):
        raise UsageError(f"{key} is not a number. List its values: {key}=a,b,c")
    first, _, last = values.removesuffix(":log").partition("..")
    low, high = (_checked(key, end.strip(), group) for end in (first, last))
    is_log = values.endswith(":log")
    if not low < high:
        raise UsageError(f"the range is empty. Write the lower end first: {key}=A..B")
    if is_log and low <= 0:
        raise UsageError(f"{low} has no logarithm. Choose a lower end above 0, or remove :log")
    return Range(key, low, high, is_log)


def _checked(key: str, value: str, group: type[Settings]) -> Any:
    prefix, _, name = key.rpartition(".")
    return group.converted(name, value, prefix)
