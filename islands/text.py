"""Words for people: names as they write them, settings, counts, times, and short numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from pathlib import Path

_NEAR = 0.75
"""How much of two names has to be alike: all but one slip in four letters."""
_dashes = ContextVar("dashes", default=False)


def meant(name: str, known: Iterable[str]) -> str:
    """Return the known name that another spelling means, or `name` itself where there is none.

    `Two-Opt` and `2opt` mean `two_opt`.
    """
    names = list(known)
    return name if name in names else {plain(each): each for each in names}.get(plain(name), name)


def plain(name: str) -> str:
    """Return what all spellings of a name have in common."""
    plain = "".join(letter for letter in name.lower() if letter not in "-_ ")
    return plain.replace("one", "1").replace("two", "2")


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return the message for a name that is not known, with one that is near and all others."""
    names = list(known)
    near = nearest(name, names)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"unknown {what} {name!r}.{hint} Known: {', '.join(names)}"


def one_line(text: str, longest: int = 1000) -> str:
    """Return text that may come from anywhere as one line of a file, cut where it is long.

    What ends lines, is not printable or is not UTF-8 is escaped by a backslash.
    """
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[: longest + 1])
    return shown if len(shown) <= longest else f"{shown[: longest - 3]}..."


def nearest(name: str, known: Iterable[str], limit: int = 1) -> list[str]:
    """Return at most `limit` names that `name` may be a slip of, the nearest first."""
    asked, spelled = plain(name), {plain(each): each for each in known}
    mixed_up = [each for each in spelled if sorted(each) == sorted(asked)]
    near = [*mixed_up, *get_close_matches(asked, spelled, limit, _NEAR)]
    return [spelled[each] for each in dict.fromkeys(near)][:limit]


@contextmanager
def command_line() -> Iterator[None]:
    """Let `option` name settings as the command line takes them, inside the block."""
    before = _dashes.set(True)
    try:
        yield
    finally:
        _dashes.reset(before)


def option(name: str, value: object = None) -> str:
    """Return a setting as the user writes it: `--stop best-known`, in Python `stop="best-known"`.

    A switch has the value True, and a list holds several values to choose from.
    """
    dashes = _dashes.get()
    values = [each for each in (value if isinstance(value, list) else [value]) if each is not None]
    if dashes:
        shown = [str(each) for each in values if each is not True]
        return f"--{name.replace('_', '-')} {either(shown)}".rstrip()
    shown = [f'"{each}"' if isinstance(each, str | Path) else str(each) for each in values]
    return f"{name}={either(shown)}" if shown else name


def either(names: Sequence[str]) -> str:
    """Return names to choose from, such as `ring, torus or none`."""
    *others, last = names or [""]
    return f"{', '.join(others)} or {last}" if others else last


def counted(number: float, one: str, several: str = "", form: str = "") -> str:
    """Return a number, as `form` has it, with its noun: `1 island`, `8 islands` or `2 cities`."""
    return f"{number:{form}} {one if number == 1 else several or f'{one}s'}"


def seconds(words: str) -> float:
    """Return the seconds that `90`, `60s`, `5m` or `2h` mean."""
    units = {"s": 1, "m": 60, "h": 3600}
    unit = units.get(words[-1:])
    try:
        number = float(words if unit is None else words[:-1])
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError("must be a number of seconds, or such as 60s, 5m or 2h")
    return number * (unit or 1)


def count(number: float) -> str:
    """Return a count in at most five characters, such as `950`, `8.2k` or `4.2M`."""
    for limit, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= limit:
            short = number / limit
            return f"{short:.0f}{unit}" if abs(short) >= 100 else f"{short:.1f}{unit}"
    return f"{number:.0f}"


def gap(percent: float | None) -> str:
    """Return a gap for a table column, or `-` where the best-known value is not known."""
    if percent is None:
        return "-"
    return ">999%" if percent > 999 else f"{percent:.2f}%"
