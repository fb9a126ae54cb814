"""Words for people: suggestions for mistyped names, times, and numbers in few characters."""

from __future__ import annotations

import math
from collections.abc import Iterable
from difflib import get_close_matches


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return the message for a name that is not known, with the nearest one and all others."""
    names = list(known)
    spelled = {each.lower(): each for each in names}
    near = get_close_matches(name.lower(), spelled, n=1)
    hint = f" Did you mean {spelled[near[0]]!r}?" if near else ""
    return f"unknown {what} {name!r}.{hint} Known: {', '.join(names)}"


def one_line(text: str, longest: int = 1000) -> str:
    """Return text that may come from anywhere as one line of a file, cut where it is long.

    What ends lines, is not printable or is not UTF-8 is escaped by a backslash.
    """
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[: longest + 1])
    return shown if len(shown) <= longest else f"{shown[: longest - 3]}..."


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
