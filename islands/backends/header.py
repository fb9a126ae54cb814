"""A kernel header: a file of the folder `kernels`, or a name with its own text."""

from __future__ import annotations

import re
from pathlib import Path

from islands.errors import UsageError
from islands.paths import reading

_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)*")


class Header:
    """A header that a program includes by name; without a text, it is a file of `kernels`."""

    def __init__(self, name: str, text: str | Path | None = None) -> None:
        """Take the text, or the path of a file that contains it."""
        if text is not None and _NAME.fullmatch(name) is None:
            raise UsageError(
                f"Header({name!r}): a name is made of letters, digits and _ . - /, such as"
                " 'spread.cuh'. Compilers show it in their errors"
            )
        if isinstance(text, Path):
            with reading(text):
                text = text.read_text(encoding="utf-8")
        self.name, self.text = name, text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Header) and (self.name, self.text) == (other.name, other.text)

    def __hash__(self) -> int:
        return hash((self.name, self.text))

    def __repr__(self) -> str:
        return f"Header({self.name!r}{'' if self.text is None else f', {self.text!r}'})"

    def __str__(self) -> str:
        """Return the name in quotes, as in an `#include`."""
        return f'"{self.name}"'
