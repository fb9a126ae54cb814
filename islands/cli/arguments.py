"""The kinds of values that options of several commands take."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path


def folder(text: str) -> Path:
    """Return the folder that `--out` names."""
    if not text:
        raise ArgumentTypeError("'' names no folder. Name one, which may be new")
    return Path(text)


def threads(text: str) -> int:
    """Return how many threads are asked for."""
    return _positive(text, "Leave it out to use every core")


def runs(usual: str) -> Callable[[str], int]:
    """Return what takes a number of runs of each instance; left out, it is the usual one."""

    def number(text: str) -> int:
        return _positive(text, f"Leave it out for {usual}")

    return number


def _positive(text: str, hint: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ArgumentTypeError(f"{text!r} must be a whole number of at least 1. {hint}")
    return number
