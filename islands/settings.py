"""Settings as frozen dataclasses: each field carries its range and one sentence, and checks itself.

Values come from Python, from TOML or as text from the command line; all go through `build`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Self, get_type_hints

from islands.errors import UsageError
from islands.text import meant, seconds, unknown


def setting(
    default: Any,
    sentence: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: Collection[str] = (),
    is_time: bool = False,
    of: str = "",
) -> Any:
    """Declare one setting: its default, what it does, and which values are allowed.

    Choices may be a registry, which scripts add to. A time is a number of seconds, also where text
    names another unit, as in `5m`. One that is `of` choices, such as `selection=tournament or
    random`, means nothing beside others. These may be of what is no setting of the same group:
    `require_meant` is told of it.
    """
    metadata = {"sentence": sentence, "low": low, "high": high, "choices": choices}
    metadata |= {"is_time": is_time, "of": of}
    return dataclasses.field(default=default, metadata=metadata)


class Settings:
    """The base of every group of settings; subclasses are frozen dataclasses made of `setting`s."""

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of the settings, in the order in which they are declared."""
        return [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]

    @classmethod
    def words(cls, name: str) -> str:
        """Return the sentence of a setting, and its default."""
        fields = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
        return f"{fields[name].metadata['sentence']} ({fields[name].default})"

    @classmethod
    def build(cls, values: Mapping[str, Any], group: str = "") -> Self:
        """Return settings made of `values`, each converted and checked, the rest being defaults.

        Errors name them as settings of the group.
        """
        built = cls(**{name: cls.converted(name, value, group) for name, value in values.items()})
        built.check()
        return built

    @classmethod
    def converted(cls, name: str, value: Any, group: str = "") -> Any:
        """Return one value as its setting has it, checked by itself."""
        fields = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
        if name not in fields:
            raise UsageError(unknown("setting", name, fields))
        full = f"{group}.{name}" if group else name
        return _checked(full, value, get_type_hints(cls)[name], fields[name].metadata)

    @classmethod
    def idle(cls, values: Mapping[str, Any], strength: Mapping[str, int]) -> set[str]:
        """Return which settings mean nothing beside stronger choices among all values."""
        idle, strongest = set[str](), dict(strength)

        def means_nothing(name: str, other: str, meant: list[str]) -> bool:
            if name not in values or strongest.get(other, -1) <= strongest[name]:
                return False
            if other in idle:  # it is left at its default
                return _shown(getattr(cls, other)) not in meant
            own = other in cls.names()
            return (
                _shown(cls.converted(other, values[other]) if own else values[other]) not in meant
            )

        while found := [each for each in cls._conditions() if means_nothing(*each)]:
            idle |= {name for name, _, _ in found}
            strongest |= {name: strongest[other] for name, other, _ in found}
        return idle

    @classmethod
    def _conditions(cls) -> Iterator[tuple[str, str, list[str]]]:
        """Yield settings that are of some choices of another one, the other, and these."""
        for field in dataclasses.fields(cls):  # type: ignore[arg-type]
            other, _, meant = field.metadata["of"].partition("=")
            if other:
                yield field.name, other, meant.split(" or ")

    def check(self) -> None:
        """Raise a `UsageError` where settings contradict each other."""
        self.require_meant()

    def require_meant(self, **beside: str) -> None:
        """Refuse settings, unless they are the default, that mean nothing beside others.

        These are those of the group, and `beside` it what is none of them.
        """
        chosen = {**self.to_mapping(), **beside}
        for name, other, wanted in self._conditions():
            value, default = getattr(self, name), getattr(type(self), name)
            if value != default and _shown(chosen.get(other, wanted[0])) not in wanted:
                of = f"{other}={' or '.join(wanted)}"
                raise UsageError(
                    f"{name}={_shown(value)}: is of {of}, but {other} is {_shown(chosen[other])}."
                    f" Leave {name} at {_shown(default)}, or choose {of}"
                )

    def replace(self, values: Mapping[str, Any]) -> Self:
        """Return a copy with some values changed, checked like the rest."""
        return self.build({**self.to_mapping(), **values})

    def to_mapping(self) -> dict[str, Any]:
        """Return the settings as a plain mapping, as TOML takes it."""
        return dataclasses.asdict(self)  # type: ignore[call-overload, no-any-return]


@dataclasses.dataclass(frozen=True)
class NoSettings(Settings):
    """Of what has nothing to be set."""


def _shown(value: Any) -> str:
    """Return a value as people write it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _checked(name: str, value: Any, kind: type, limits: Mapping[str, Any]) -> Any:
    is_worded = limits["is_time"] and isinstance(value, str)
    result = _converted(name, _seconds(name, value) if is_worded else value, kind)
    low, high, choices = limits["low"], limits["high"], limits["choices"]
    if choices:
        result = meant(result, choices)
    if choices and result not in choices:
        raise UsageError(f"{name}={value}: {unknown('choice', str(value), choices)}")
    if (low is not None and result < low) or (high is not None and result > high):
        raise UsageError(f"{name}={value}: must be {_range(low, high)}")
    return result


def _converted(name: str, value: Any, kind: type) -> Any:
    """Convert text, or a number of another kind where nothing is lost, to `kind`."""
    try:
        if kind is bool:
            return _truth(value)
        if kind is str:
            return str(value)
        if isinstance(value, bool):
            raise TypeError("to Python, true is 1")
        number = float(value) if not isinstance(value, int) else value
        if kind is int:
            if number != int(number):
                raise ValueError
            return int(value) if isinstance(value, str) and value.strip().isdigit() else int(number)
        if not math.isfinite(number):
            raise ValueError
        return float(number)
    except (TypeError, ValueError, OverflowError):
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise UsageError(f"{name}={value}: must be {wanted}") from None


def _seconds(name: str, value: str) -> float:
    try:
        return seconds(value)
    except ValueError as error:
        raise UsageError(f"{name}={value}: {error}") from None


def _truth(value: Any) -> bool:
    words = {"true": True, "yes": True, "on": True, "1": True}
    words |= {"false": False, "no": False, "off": False, "0": False}
    text = str(value).strip().lower()
    if text not in words:
        raise ValueError
    return words[text]


def _range(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"from {_bound(low)} to {_bound(high)}"
    return f"at least {_bound(low)}" if low is not None else f"at most {_bound(high or 0)}"


def _bound(number: float) -> str:
    # A whole number in full: its first digits alone may be more than is allowed.
    return str(number) if isinstance(number, int) else f"{number:g}"
