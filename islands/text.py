"""Text for users: names, settings, counts, durations and short numbers."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from pathlib import Path
from typing import TextIO

_NEAR = 0.75
"""Minimum similarity of two names: one wrong letter in four."""
_SHOWN = 60  # maximum characters of a value in a message
_dashes = ContextVar("dashes", default=False)
_plain = ContextVar[frozenset[str]]("plain", default=frozenset())


def meant(name: str, known: Iterable[str]) -> str:
    """Return the known name that `name` is a spelling of, or `name` if there is none.

    `Two-Opt` and `2opt` both mean `two_opt`.
    """
    names = list(known)
    by_form = {plain(known): known for known in names}
    return name if name in names else by_form.get(plain(name), name)


def plain(name: str) -> str:
    """Return the form that all spellings of a name share: `2opt` of `Two-Opt`."""
    plain = "".join(letter for letter in name.lower() if letter not in "-_ ")
    return plain.replace("one", "1").replace("two", "2")


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return the message about an unknown name, with the most similar and all known names."""
    names = list(known)
    near = nearest(name, names)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"unknown {what} {one_line(name, _SHOWN)!r}.{hint} Known: {', '.join(names)}"


def escaped(text: str, kept: str = "\n\t") -> str:
    """Escape unprintable characters other than `kept` by backslash sequences.

    Text from files, scripts and other programs could otherwise control the terminal. Characters
    that reverse the direction of text, and invalid UTF-8, are unprintable as well.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in kept else char.encode("unicode_escape").decode()
        for char in text
    )


def show(
    text: object,
    file: TextIO | None = None,
    *,
    end: str = "\n",
    painted: Callable[[str], str] = str,
) -> None:
    """Print text of any origin, escaped, to standard output or another stream.

    All output of the package is printed here. `painted` adds terminal codes to the escaped text.
    """
    print(painted(escaped(str(text))), file=file, end=end, flush=True)


def one_line(text: str, longest: int = 1000) -> str:
    """Return text of any origin, escaped, as one line of at most `longest` characters."""
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
    """Return at most `limit` known names similar to `name`, the most similar first."""
    wanted, names = plain(name), {plain(other): other for other in known}
    permuted = [form for form in names if sorted(form) == sorted(wanted)]
    near = [*permuted, *get_close_matches(wanted, names, limit, _NEAR)]
    return [names[form] for form in dict.fromkeys(near)][:limit]


@contextmanager
def command_line() -> Iterator[None]:
    """Let `option` write settings as options of the command line inside the block."""
    before = _dashes.set(True)
    try:
        yield
    finally:
        _dashes.reset(before)


@contextmanager
def as_settings(names: Iterable[str]) -> Iterator[None]:
    """Let `option` write these names without dashes inside the block, as in a colony."""
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
    values = [v for v in (value if isinstance(value, list) else [value]) if v is not None]
    if dashes and name not in _plain.get():
        shown = [str(v) for v in values if v is not True]
        return f"--{name.replace('_', '-')} {either(shown)}".rstrip()
    shown = [f'"{v}"' if isinstance(v, str | Path) and not dashes else str(v) for v in values]
    return f"{name}={either(shown)}" if shown else name


def either(names: Sequence[str], word: str = "or") -> str:
    """Return alternatives as text, such as `ring, torus or none`; with `and`, an enumeration."""
    *others, last = names or [""]
    return f"{', '.join(others)} {word} {last}" if others else last


def counted(number: float, one: str, several: str = "", form: str = "") -> str:
    """Return a formatted number with its noun: `1 island`, `8 islands` or `2 cities`."""
    return f"{number:{form}} {one if number == 1 else several or f'{one}s'}"


def seconds(text: str) -> float:
    """Return the number of seconds in `90`, `60s`, `5m` or `2h`."""
    units = {"s": 1, "m": 60, "h": 3600}
    unit = units.get(text[-1:])
    try:
        number = float(text if unit is None else text[:-1])
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
    """Return a number with this many decimals, a huge one with an exponent, or `-` for None."""
    if number is None:
        return "-"
    return f"{number:.{digits}f}" if abs(number) < 1e11 else f"{number:.5g}"


def fitting(number: float, width: int) -> str:
    """Return a number with as many significant digits, at most 8, as fit the width."""
    texts = [f"{number:.{digits}g}" for digits in range(8, 0, -1)]
    return next((text for text in texts if len(text) <= width), texts[-1])


def gap(percent: float | None) -> str:
    """Return a gap for a column of a table, or `-` if the best known value is unknown."""
    if percent is None:
        return "-"
    if abs(percent) > 999:
        return ">999%" if percent > 0 else "<-999%"
    return f"{percent:.2f}%"
