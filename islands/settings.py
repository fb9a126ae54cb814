"""Settings as frozen dataclasses: each field has a description, a range and choices.

Values come from Python, from TOML or as text from the command line; `build` converts and checks
them all.
"""

import dataclasses
import math
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any, Self, TypeVar, get_type_hints

from islands.errors import UsageError
from islands.text import meant, seconds, shown, unknown

_LEAST, _MOST = -(2**63), 2**63 - 1
_TRUTH = dict.fromkeys(("true", "yes", "on", "1"), True)
_TRUTH |= dict.fromkeys(("false", "no", "off", "0"), False)
_Value = TypeVar("_Value")


def changed(value: _Value, **fields: Any) -> _Value:
    """Return a copy of a dataclass with other values of some fields, cached properties included.

    `dataclasses.replace` is many times slower, which slows down batches of small instances.
    """
    copy = object.__new__(type(value))
    vars(copy).update(vars(value) | fields)
    return copy


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
    """Declare one setting: its default, its description and the allowed values.

    Integers have 64 bits, as in TOML, unless the limits are narrower. Choices may be a registry, to
    which scripts add parts. A time is a number of seconds; text may have another unit, as in `5m`.
    `of` is the condition under which the setting has an effect: choices of another setting, such as
    `selection=tournament or random`. If that one is in another group, the caller of
    `require_effective` passes its value. `islands.Settings` has an example.
    """
    metadata = {"sentence": sentence, "low": low, "high": high, "choices": choices}
    metadata |= {"is_time": is_time, "of": of}
    return dataclasses.field(default=default, metadata=metadata)


class Settings:
    """The base class of groups of settings: frozen dataclasses with fields declared by `setting`.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class ClimberSettings(islands.Settings):
    ...     exchanges: int = islands.setting(1, "exchanges that make a child", low=1, high=1000)
    >>> ClimberSettings.build({"exchanges": 5})
    ClimberSettings(exchanges=5)
    >>> ClimberSettings.words("exchanges")
    'exchanges that make a child (default: 1)'
    """

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of the settings, in the order of their declaration."""
        return [*cls._declared()]

    @classmethod
    def _declared(cls) -> dict[str, dataclasses.Field[Any]]:
        return {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]

    @classmethod
    def words(cls, name: str) -> str:
        """Return the description of a setting, with its default."""
        field = cls._declared()[name]
        return f"{field.metadata['sentence']} (default: {field.default})"

    @classmethod
    def build(cls, values: Mapping[str, Any], group: str = "") -> Self:
        """Return settings with these values, converted and checked; others have their defaults.

        Errors name each setting with the prefix `group`.
        """
        built = cls(**{name: cls.converted(name, value, group) for name, value in values.items()})
        built.check()
        return built

    @classmethod
    def converted(cls, name: str, value: Any, group: str = "") -> Any:
        """Return one value, converted to the type of its setting and checked against its range."""
        fields = cls._declared()
        if name not in fields:
            raise UsageError(unknown("setting", name, fields))
        full = f"{group}.{name}" if group else name
        return _checked(full, value, cls._types()[name], fields[name].metadata)

    @classmethod
    @cache
    def _types(cls) -> dict[str, Any]:
        """Return the types of the settings; evaluating them is slow."""
        return get_type_hints(cls)

    @classmethod
    def ineffective(cls, values: Mapping[str, Any], strength: Mapping[str, int]) -> set[str]:
        """Return the settings that have no effect because of choices from stronger sources.

        `strength` is the precedence of the source of each setting.
        """
        dropped, strongest = set[str](), dict(strength)

        def has_no_effect(name: str, other: str, required: list[str]) -> bool:
            if name not in values or strongest.get(other, -1) <= strongest[name]:
                return False
            if other in dropped:  # it has its default
                return _written(getattr(cls, other)) not in required
            is_own = other in cls.names()
            chosen = cls.converted(other, values[other]) if is_own else values[other]
            return _written(chosen) not in required

        while unmet := [condition for condition in cls._conditions() if has_no_effect(*condition)]:
            dropped |= {name for name, _, _ in unmet}
            strongest |= {name: strongest[other] for name, other, _ in unmet}
        return dropped

    @classmethod
    def _conditions(cls) -> Iterator[tuple[str, str, list[str]]]:
        """Yield the settings with a condition, the settings they depend on, and the choices."""
        for name, field in cls._declared().items():
            other, _, required = field.metadata["of"].partition("=")
            if other:
                yield name, other, required.split(" or ")

    def check(self) -> None:
        """Raise a `UsageError` if settings contradict each other."""
        self.require_effective()

    def require_effective(self, **others: str) -> None:
        """Reject settings that have no effect with the others, except with their default value.

        `others` are settings of other groups.
        """
        chosen = {**self.to_mapping(), **others}
        for name, other, required in self._conditions():
            value, default = getattr(self, name), getattr(type(self), name)
            if value != default and _written(chosen.get(other, required[0])) not in required:
                of = f"{other}={' or '.join(required)}"
                raise UsageError(
                    f"{name}={_written(value)}: only has an effect with {of}, but {other} is"
                    f" {_written(chosen[other])}. Leave {name} at {_written(default)}, or choose"
                    f" {of}"
                )

    def replace(self, values: Mapping[str, Any]) -> Self:
        """Return a copy with some values changed, converted and checked."""
        return self.build({**self.to_mapping(), **values})

    def to_mapping(self) -> dict[str, Any]:
        """Return the settings as a mapping that TOML can represent."""
        return dataclasses.asdict(self)  # type: ignore[call-overload, no-any-return]


@dataclasses.dataclass(frozen=True)
class NoSettings(Settings):
    """The empty group, for parts without settings."""


def _written(value: Any) -> str:
    """Return a value as users write it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _checked(name: str, value: Any, kind: type, limits: Mapping[str, Any]) -> Any:
    amount = value
    if limits["is_time"] and isinstance(value, str):
        try:
            amount = seconds(value)
        except ValueError as error:
            raise UsageError(f"{name}={value}: {error}") from None
    result = _converted(name, amount, kind)
    low, high, choices = limits["low"], limits["high"], limits["choices"]
    if kind is int and not _LEAST <= result <= _MOST:
        low, high = (_LEAST if low is None else low), (_MOST if high is None else high)
    if choices:
        result = meant(result, choices)
    if choices and result not in choices:
        raise UsageError(f"{name}={shown(value, str)}: {unknown('choice', str(value), choices)}")
    is_low = low is not None and result < low
    if is_low or (high is not None and result > high):
        fix = "Raise" if is_low else "Lower"
        raise UsageError(f"{name}={shown(value, str)}: must be {_range(low, high)}. {fix} it")
    return result


def _converted(name: str, value: Any, kind: type) -> Any:
    """Convert text, or a number of another type without loss, to `kind`."""
    try:
        if kind is bool:
            return _TRUTH[str(value).strip().lower()]
        if kind is str:
            return str(value)
        if isinstance(value, bool):
            raise TypeError("Python would convert true to 1")
        number = float(value) if not isinstance(value, int) else value
        if kind is int:
            if number != int(number):
                raise ValueError
            return int(value) if isinstance(value, str) and value.strip().isdigit() else int(number)
        if not math.isfinite(number):
            raise ValueError
        return float(number)
    except (TypeError, ValueError, OverflowError, KeyError):
        allowed = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise UsageError(f"{name}={shown(value, str)}: must be {allowed}") from None


def _range(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"from {_bound(low)} to {_bound(high)}"
    return f"at least {_bound(low)}" if low is not None else f"at most {_bound(high or 0)}"


def _bound(number: float) -> str:
    # Integers are exact, as a rounded bound could exceed the range.
    return str(number) if isinstance(number, int) else f"{number:g}"


def flat(settings: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Flatten nested settings into a dict by full name, such as `migration.interval`."""
    values: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            values |= flat(value, f"{before}{name}.")
        else:
            values[f"{before}{name}"] = value
    return values
