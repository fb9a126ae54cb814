"""Read the numbers of a text file in order, regardless of line breaks, without rounding."""

from __future__ import annotations

import re

from islands.errors import InputError
from islands.instances.lines import Lines, shown

_NUMBER = re.compile(rb"\d+\.?\d*|\.\d+")
_LONGEST = 40
_DIGITS = 18


class Numbers:
    """The remaining words of an open file; an error names the line of its word."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self._words: list[bytes] = []
        self._next = 0

    def error(self, message: str) -> InputError:
        """Return an error that names the current line."""
        return self.lines.error(message)

    def line(self) -> list[bytes] | None:
        """Return the remaining words of this line, or the next line with words; None at the end."""
        if not self._is_filled():
            return None
        rest = self._words[self._next :]
        self._next = len(self._words)
        return rest

    def next(self, count: int = 1) -> list[bytes]:
        """Return at most `count` next words of the line without consuming them."""
        return self._words[self._next :][:count] if self._is_filled() else []

    def whole(self, what: str, largest: int) -> int:
        """Return the next number, which must be an integer from 1 to `largest`."""
        if not self._is_filled():
            raise self.error(f"the file ends before {what}. Get it again if it is truncated")
        word = self._words[self._next]
        if not word.isdigit() or len(word) > _DIGITS or not 1 <= int(word) <= largest:
            raise self.error(
                f"{what} is {shown(word)}: must be a whole number from 1 to {largest}. Correct it"
            )
        self._next += 1
        return int(word)

    def allow(self, count: int, reason: str) -> None:
        """Allow `count` more numbers, which `reason` requires; refuse if the file is too short."""
        if 2 * count > self.lines.longest + 1:
            raise self.error(
                f"{reason} need {count} numbers, and the file has at most {self.lines.longest} "
                "bytes. Get the file again if it is truncated, or correct the sizes"
            )
        self.lines.allow(count)

    def take(self, count: int, what: str) -> list[bytes]:
        """Return the next `count` numbers as written; `what` is their name in the plural."""
        words = self._take(count, what, checked=True)
        return [word for part in words for word in part]

    def skip(self, count: int, what: str) -> None:
        """Skip `count` words."""
        self._take(count, what, checked=False)

    def _take(self, count: int, what: str, *, checked: bool) -> list[list[bytes]]:
        parts, left = [], count
        while left:
            if not self._is_filled():
                raise self.error(
                    f"the file ends after {count - left} of {count} {what}. "
                    "Complete it, or correct the sizes at the beginning"
                )
            part = self._words[self._next : self._next + left]
            if checked:
                self._check(part, what)
                parts.append(part)
            self._next += len(part)
            left -= len(part)
        return parts

    def _check(self, words: list[bytes], what: str) -> None:
        if all(map(bytes.isdigit, words)) and max(map(len, words)) <= _DIGITS:
            return
        for word in words:
            if not is_number(word):
                raise self.error(f"{shown(word)}, one of the {what}, {_fault(word)}. Correct it")

    def _is_filled(self) -> bool:
        """Read on to the next word; return whether there is one."""
        while self._next == len(self._words):
            words = self.lines.words()
            if words is None:
                return False
            self._words, self._next = words, 0
        return True


def is_number(word: bytes) -> bool:
    """Return whether a word is a non-negative number, with or without decimals."""
    return len(word) <= _LONGEST and _NUMBER.fullmatch(word) is not None


def decimals(words: list[bytes]) -> int:
    """Return the largest number of decimals of the numbers."""
    return max((len(word.partition(b".")[2].rstrip(b"0")) for word in words), default=0)


def scaled(words: list[bytes], places: int) -> list[int]:
    """Return the numbers times ten to the power of `places`, which covers all decimals."""
    if not any(b"." in word for word in words):
        return [int(word) * 10**places for word in words]
    return [_scaled(word, places) for word in words]


def _scaled(word: bytes, places: int) -> int:
    whole, _, fraction = word.partition(b".")
    return int(whole + fraction.rstrip(b"0").ljust(places, b"0") or b"0")


def _fault(word: bytes) -> str:
    if word[:1] == b"-" and is_number(word[1:]):
        return "is negative: must be at least 0"
    if _NUMBER.fullmatch(word):
        return f"is longer than {_LONGEST} characters, so it is not computed exactly"
    return "is not a number such as 12 or 0.5"
