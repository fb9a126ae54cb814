"""Text for users: names, settings, counts, durations and short numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from pathlib import Path
from typing import TextIO

_NEAR = 0.75
"""Minimum similarity of two names: one wrong letter in four."""
_SHOWN = 60  # characters of a value in a message
_dashes = ContextVar("dashes", default=False)
_plain = ContextVar[frozenset[str]]("plain", default=frozenset())


def meant(name: str, known: Iterable[str]) -> str:
    """Return the known name with the same spelling in plain form, or `name` if there is none.

    `Two-Opt` and `2opt` both mean `two_opt`.
    """
    names = list(known)
    return name if name in names else {plain(each): each for each in names}.get(plain(name), name)


def plain(name: str) -> str:
    """Return the plain form that all spellings of a name share."""
    plain = "".join(letter for letter in name.lower() if letter not in "-_ ")
    return plain.replace("one", "1").replace("two", "2")


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return the message for an unknown name, with the nearest known name and all others."""
    names = list(known)
    near = nearest(name, names)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"unknown {what} {one_line(name, _SHOWN)!r}.{hint} Known: {', '.join(names)}"


def escaped(text: str, kept: str = "\n\t") -> str:
    """Return text with a backslash sequence for each character that is unprintable and not `kept`.

    Text from files, scripts and other programs could otherwise control the terminal. This includes
    characters that reverse the direction of text, and invalid UTF-8.
    """
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or each in kept else each.encode("unicode_escape").decode()
        for each in text
    )


def show(
    text: object,
    file: TextIO | None = None,
    *,
    end: str = "\n",
    painted: Callable[[str], str] = str,
) -> None:
    """Print text of any origin, escaped, to standard output or another stream.

    Nothing else in the package prints. `painted` adds terminal codes to the escaped text.
    """
    print(painted(escaped(str(text))), file=file, end=end, flush=True)


def one_line(text: str, longest: int = 1000) -> str:
    """Return text from any source as one line, shortened to at most `longest` characters.

    Line breaks, unprintable characters and invalid UTF-8 are escaped with a backslash.
    """
    shown = escaped(text[: longest + 1], kept="")
    return shown if len(shown) <= longest else f"{shown[: longest - 3]}..."


def shown(value: object, form: Callable[[object], str] = repr) -> str:
    """Return a user's value as short text on one line."""
    try:
        return one_line(form(value), _SHOWN)
    except ValueError:  # Python refuses to print very long integers
        return "a number with too many digits"
    except Exception:  # any object may raise any error
        return f"an object of the type {type(value).__name__}"


def nearest(name: str, known: Iterable[str], limit: int = 1) -> list[str]:
    """Return at most `limit` known names similar to `name`, the nearest first."""
    asked, spelled = plain(name), {plain(each): each for each in known}
    mixed_up = [each for each in spelled if sorted(each) == sorted(asked)]
    near = [*mixed_up, *get_close_matches(asked, spelled, limit, _NEAR)]
    return [spelled[each] for each in dict.fromkeys(near)][:limit]


@contextmanager
def command_line() -> Iterator[None]:
    """Make `option` write settings as command line options inside the block."""
    before = _dashes.set(True)
    try:
        yield
    finally:
        _dashes.reset(before)


@contextmanager
def as_settings(names: Iterable[str]) -> Iterator[None]:
    """Make `option` write these names without dashes inside the block, as in a colony."""
    before = _plain.set(_plain.get() | frozenset(names))
    try:
        yield
    finally:
        _plain.reset(before)


def option(name: str, value: object = None) -> str:
    """Return a setting as the user writes it: `--stop best-known`, in Python `stop="best-known"`.

    In a colony on the command line, it is `algorithm=ga`. The value of a switch is True; a list
    contains alternative values.
    """
    dashes = _dashes.get()
    values = [each for each in (value if isinstance(value, list) else [value]) if each is not None]
    if dashes and name in _plain.get():
        return f"{name}={either([str(each) for each in values])}" if values else name
    if dashes:
        shown = [str(each) for each in values if each is not True]
        return f"--{name.replace('_', '-')} {either(shown)}".rstrip()
    shown = [f'"{each}"' if isinstance(each, str | Path) else str(each) for each in values]
    return f"{name}={either(shown)}" if shown else name


def either(names: Sequence[str]) -> str:
    """Return alternatives as text, such as `ring, torus or none`."""
    *others, last = names or [""]
    return f"{', '.join(others)} or {last}" if others else last


def counted(number: float, one: str, several: str = "", form: str = "") -> str:
    """Return a formatted number with its noun: `1 island`, `8 islands` or `2 cities`."""
    return f"{number:{form}} {one if number == 1 else several or f'{one}s'}"


def seconds(words: str) -> float:
    """Return the number of seconds in `90`, `60s`, `5m` or `2h`."""
    units = {"s": 1, "m": 60, "h": 3600}
    unit = units.get(words[-1:])
    try:
        number = float(words if unit is None else words[:-1])
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError("must be a number of seconds, or a duration such as 60s, 5m or 2h")
    return number * (unit or 1)


def count(number: float) -> str:
    """Return a count in at most five characters, such as `950`, `8.2k` or `4.2M`."""
    for limit, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= limit:
            short = number / limit
            return f"{short:.0f}{unit}" if abs(short) >= 100 else f"{short:.1f}{unit}"
    return f"{number:.0f}"


def rounded(number: float | None, digits: int = 0) -> str:
    """Return a number with this many decimals, a huge one in short form, or `-` for None."""
    if number is None:
        return "-"
    return f"{number:.{digits}f}" if abs(number) < 1e11 else f"{number:.5g}"


def fitting(number: float, width: int) -> str:
    """Return a number with up to 8 significant digits, or with fewer if it is too wide."""
    texts = [f"{number:.{digits}g}" for digits in range(8, 0, -1)]
    return next((text for text in texts if len(text) <= width), texts[-1])


def gap(percent: float | None) -> str:
    """Return a gap for a table column, or `-` if the best-known value is unknown."""
    if percent is None:
        return "-"
    if abs(percent) > 999:
        return ">999%" if percent > 0 else "<-999%"
    return f"{percent:.2f}%"
