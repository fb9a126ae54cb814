"""Files of numbers, as the usual collections of instances have them, and errors about them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from islands.errors import InputError, UsageError
from islands.instances.lines import Lines, shown

MOST_NUMBERS = 20_000_000
"""The most words of a file, so that a compressed one cannot fill the memory."""
_NUMBER = re.compile(rb"-?\d{1,15}")


class NumberFile:
    """The lines of a file as words, and its numbers one after another."""

    def __init__(self, path: Path, comment: bytes = b"#") -> None:
        self.path = path
        self.lines: list[list[bytes]] = []
        with Lines.open(path) as lines:
            lines.allow(MOST_NUMBERS)
            while (words := lines.words()) is not None:
                if words and not words[0].startswith(comment):
                    self.lines.append(words)
        self._left: Iterator[bytes] = iter([word for line in self.lines for word in line])

    def numbers(self, count: int, what: str, low: int = 0, high: int = 2**31 - 1) -> list[int]:
        """Return the next numbers, of which `what` is the name in the plural."""
        found: list[int] = []
        for word in self._left:
            if not _NUMBER.fullmatch(word) or not low <= int(word) <= high:
                raise self.error(
                    f"{shown(word)}, one of the {what}: must be a whole number from {low} to"
                    f" {high}. Correct it"
                )
            found.append(int(word))
            if len(found) == count:
                return found
        if count:
            raise self.error(
                f"the file ends after {len(found)} of {count} {what}. Get it again, or correct the"
                " sizes at its beginning"
            )
        return found

    def rest(self, what: str, low: int = 0, high: int = 2**31 - 1) -> list[int]:
        """Return all numbers that are left."""
        left = list(self._left)
        self._left = iter(left)
        return self.numbers(len(left), what, low, high)

    def skip(self) -> None:
        """Skip the next word."""
        next(self._left, None)

    def skip_past(self, line: bytes) -> None:
        """Skip all words up to the line that begins with a word."""
        for word in self._left:
            if word == line:
                return
        raise self.error(f"has no line with {shown(line)}. Name another file, or its format")

    def end(self) -> None:
        """Refuse words that are left."""
        if (word := next(self._left, None)) is not None:
            raise self.error(f"{shown(word)} follows the last number. Remove it")

    def error(self, message: str) -> InputError:
        """Return an error that names the file."""
        return InputError(f"{self.path}: {message}")


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Let errors about the data of a model name the file that they come from."""
    try:
        yield
    except UsageError as error:
        raise InputError(f"{path}: {error}") from None
