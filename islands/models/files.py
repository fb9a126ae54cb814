"""Files of whole numbers, the usual format of benchmark instances, and errors about them."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Self

from islands.errors import InputError, UsageError
from islands.instances.lines import Lines, Numbers, quoted
from islands.instances.sizes import MOST_NUMBERS, require_size

_NUMBER = re.compile(rb"-?\d{1,15}")


class NumberFile(Numbers):
    """The whole numbers of an open file; lines of comments are skipped."""

    comments: ClassVar[tuple[bytes, ...]] = (b"c", b"#")

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator[Self]:
        """Open a file; errors about its data that are raised in the block also name the file."""
        with Lines.open(path) as lines:
            try:
                yield cls(lines)
            except UsageError as error:
                raise InputError(f"{path}: {error}") from None

    @property
    def left_in_line(self) -> int:
        """The number of remaining words of the current line."""
        return len(self._words) - self._next

    def expect(self, what: str, count: int) -> None:
        """Reject a file that is too small for the count of numbers that `what` needs."""
        require_size(what, count, "numbers", MOST_NUMBERS, self.error)
        self.lines.expect(f"{what} needs", count)

    def numbers(self, count: int, what: str, low: int = 0, high: int = 2**31 - 1) -> array[int]:
        """Return the next numbers; `what` is a plural noun for them."""
        numbers = array("q")
        while len(numbers) < count:
            if (word := self.word()) is None:
                raise self.error(
                    f"the file ends after {len(numbers)} of {count} {what}. Get it again, or"
                    " correct the sizes at its beginning"
                )
            numbers.append(self.whole(word, what, low, high))
        return numbers

    def rest(self, what: str) -> array[int]:
        """Return all remaining numbers."""
        numbers = array("q")
        while (word := self.word()) is not None:
            self.lines.allow(1)
            numbers.append(self.whole(word, what))
            require_size(what, len(numbers), "numbers", MOST_NUMBERS, self.error)
        return numbers

    def whole(self, word: bytes, what: str, low: int = 0, high: int = 2**31 - 1) -> int:
        """Return a word as a whole number; `what` is a plural noun for errors."""
        if not _NUMBER.fullmatch(word) or not low <= int(word) <= high:
            raise self.error(
                f"{quoted(word)}, one of the {what}: must be a whole number from {low} to {high}."
                " Correct it"
            )
        return int(word)

    def real(self, word: bytes, what: str) -> float:
        """Return a word as a real number; `what` is a plural noun for errors."""
        try:
            number = float(word)
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or b"_" in word:
            raise self.error(f"{quoted(word)}, one of the {what}: must be a number. Correct it")
        return number

    def wrong_form(self, line: list[bytes], form: str) -> InputError:
        """Return the error about a line that is not of this form."""
        return self.error(f"{quoted(b' '.join(line))} is not of the form '{form}'. Correct it")

    def skip_past(self, last: bytes) -> None:
        """Skip all words up to and including `last`."""
        while (word := self.word()) is not None:
            if word == last:
                return
        raise self.error(f"has no line with {quoted(last)}. Specify another file, or its format")

    def end(self) -> None:
        """Reject remaining words."""
        if (word := self.word()) is not None:
            raise self.error(f"{quoted(word)} follows the last number. Remove it")
