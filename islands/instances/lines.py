"""Read text files, plain or gzipped, in bounded memory: by lines, words or numbers."""

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import ClassVar, Self, cast

from islands.errors import InputError
from islands.paths import reading

_LINE = 1 << 16
_BLOCK = 1 << 16
"""Bytes that are read at once."""
_WORD = 64
_HEADER = 1 << 18
_LONGEST = 40
"""Maximum length of a number; the time of `int` grows with the square of the length."""
_DEFLATE = 1032
"""Maximum ratio of the length of a text to that of its gzip file: the limit of deflate."""
_FIX = "Get the file again, or specify another one"
_UNREADABLE = (OSError, EOFError, zlib.error)


_is_over = ContextVar[Callable[[], bool]]("is_over", default=lambda: False)


@contextmanager
def reading_until(is_over: Callable[[], bool]) -> Iterator[None]:
    """Let this thread read files in the block only until `is_over` returns True."""
    before = _is_over.set(is_over)
    try:
        yield
    finally:
        _is_over.reset(before)


class Lines:
    """The lines of an open text file; errors name the file and the line.

    A file must not be longer than its header justifies: reading fails beyond an allowance, which
    `allow` increases. Thus neither a long file nor a decompression bomb can exhaust memory.
    """

    def __init__(self, stream: io.BufferedReader, path: Path, longest: int) -> None:
        self.path = path
        self.number = 0
        self.longest = longest
        """Upper bound on the bytes of text in the file."""
        self._stream = stream
        self._allowance = _HEADER
        self._line_ended = True
        self._cut = b""

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator[Self]:
        """Open a file; its first bytes show whether it is gzipped.

        Reject a file with the suffix `.gz` that is not gzipped, as it may be damaged.
        """
        with reading(path):
            size = _size(path)
            raw = cast(io.BufferedReader, path.open("rb", _BLOCK))
        with raw:
            if raw.read(2) == b"\x1f\x8b":
                raw.seek(0)
                unzipped = cast(io.RawIOBase, gzip.GzipFile(fileobj=raw))
                yield cls(io.BufferedReader(unzipped, _BLOCK), path, size * _DEFLATE)
            elif path.suffix.lower() == ".gz":
                raise InputError(
                    f"{path}: is not gzipped, despite its suffix. Get it again, or rename it to"
                    f" {path.stem} if it is plain text"
                )
            else:
                raw.seek(0)
                yield cls(raw, path, size)

    def allow(self, words: int) -> None:
        """Increase the allowance by a number of words, including white space around them."""
        self._allowance += _WORD * words

    def expect(self, needs: str, numbers: int) -> None:
        """Allow the numbers that are needed; reject a file that is too short for them.

        Call it before memory is allocated. `needs` begins the message, such as `DIMENSION 5 needs`.
        """
        if 2 * numbers > self.longest + 1:
            raise self.error(
                f"{needs} {numbers} numbers, and the file has at most {self.longest} bytes. Get the"
                " file again if it is truncated, or correct the sizes"
            )
        self.allow(numbers)

    def line(self) -> bytes | None:
        """Return the next line that is not blank, stripped; None at the end of the file."""
        while piece := self._piece():
            if len(piece) >= _LINE and not piece.endswith(b"\n"):
                raise self.error(f"a line of more than {_LINE} bytes, which is the limit. {_FIX}")
            if b"\0" in piece:
                raise self.error(f"a zero byte: this is not a text file. {_FIX}")
            if stripped := piece.strip():
                return stripped
        return None

    def words(self) -> list[bytes] | None:
        """Return the next words, regardless of line breaks; None at the end of the file."""
        piece = self._piece()
        if not piece:
            return None
        words = piece.split()
        if len(piece) >= _LINE and not piece[-1:].isspace():
            self._cut = words.pop()
            if len(self._cut) > _WORD:
                raise self.error(
                    f"{quoted(self._cut)} has more than {_WORD} bytes, too long for a number."
                    f" {_FIX}"
                )
        return words

    def error(self, message: str) -> InputError:
        """Return an error that names the current line."""
        return InputError(f"{self.path}:{max(1, self.number)}: {message}")

    def _piece(self) -> bytes:
        """Return the next line, or the next part of a long one; empty at the end of the file.

        A part begins with the word that the previous part cut in two.
        """
        if _is_over.get()():
            raise self.error("interrupted by a signal while the file was read. Repeat the command")
        try:
            read = self._stream.readline(_LINE)
        except _UNREADABLE as problem:
            reason = str(problem).rstrip(".")
            raise self.error(f"cannot be read to the end: {reason}. Get the file again") from None
        if self.number == 0:  # some editors write a byte order mark
            read = read.removeprefix(codecs.BOM_UTF8)
        piece = self._cut + read
        if self._line_ended and piece:
            self.number += 1
        self._line_ended = piece.endswith(b"\n")
        self._allowance -= len(read)
        self._cut = b""
        if self._allowance < 0:
            raise self.error("the file is longer than its header allows. Get it again")
        return piece


def quoted(raw: bytes) -> str:
    """Return bytes of a file in a form for messages: short, quoted and printable."""
    text = raw[:40].decode("utf-8", "backslashreplace")
    return ascii(text) + ("..." if len(raw) > 40 else "")


def whole(word: bytes, largest: int, least: int = 0) -> int | None:
    """Return a word as an integer; None if it is not an integer from `least` to `largest`."""
    if not word.isdigit() or len(word) > _LONGEST:
        return None
    return number if least <= (number := int(word)) <= largest else None


def decoded(raw: bytes) -> str:
    """Return text in UTF-8 or, as in old files, Latin-1."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _size(path: Path) -> int:
    if path.is_dir():
        raise IsADirectoryError("is a folder")
    if path.exists() and not path.is_file():
        raise OSError("is not a regular file")
    return path.stat().st_size


_NUMBER = re.compile(rb"\d+\.?\d*|\.\d+")
_DIGITS = 18


class Numbers:
    """The remaining words of an open file; errors name the current line."""

    comments: ClassVar[tuple[bytes, ...]] = ()
    """The beginnings of lines that are skipped."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self._words: list[bytes] = []
        self._next = 0

    def error(self, message: str) -> InputError:
        """Return an error that names the current line."""
        return self.lines.error(message)

    def line(self) -> list[bytes] | None:
        """Return the remaining words of this line, or else the next line; None at the end."""
        if not self._is_filled():
            return None
        rest = self._words[self._next :]
        self._next = len(self._words)
        return rest

    def next(self, count: int = 1) -> list[bytes]:
        """Return up to `count` of the next words of the line, without consuming them."""
        return self._words[self._next :][:count] if self._is_filled() else []

    def word(self) -> bytes | None:
        """Return the next word; None at the end of the file."""
        if not self._is_filled():
            return None
        self._next += 1
        return self._words[self._next - 1]

    def size(self, what: str, largest: int) -> int:
        """Return the next number, which must be an integer from 1 to `largest`."""
        if (word := self.word()) is None:
            raise self.error(f"the file ends before {what}. Get it again if it is truncated")
        if (number := whole(word, largest, 1)) is None:
            raise self.error(
                f"{what} is {quoted(word)}: must be a whole number from 1 to {largest}. Correct it"
            )
        return number

    def take(self, count: int, what: str) -> list[bytes]:
        """Return the next `count` numbers as written; `what` is their name in the plural."""
        taken: list[bytes] = []
        while len(taken) < count:
            part = self._part(count - len(taken), count, what)
            if not all(map(bytes.isdigit, part)) or max(map(len, part)) > _DIGITS:
                for word in part:
                    self._check(word, what)
            taken += part
        return taken

    def skip(self, count: int, what: str) -> None:
        """Skip `count` words."""
        left = count
        while left:
            left -= len(self._part(left, count, what))

    def _part(self, most: int, count: int, what: str) -> list[bytes]:
        """Return the next words of a line, at most `most`; `count` and `what` are for the error."""
        if not self._is_filled():
            raise self.error(
                f"the file ends after {count - most} of {count} {what}. "
                "Complete it, or correct the sizes at the beginning"
            )
        part = self._words[self._next : self._next + most]
        self._next += len(part)
        return part

    def _check(self, word: bytes, what: str) -> None:
        if is_number(word):
            return
        fault = "is not a number such as 12 or 0.5"
        if word[:1] == b"-" and is_number(word[1:]):
            fault = "is negative: must be at least 0"
        elif _NUMBER.fullmatch(word):
            fault = f"is longer than {_LONGEST} characters, so it is not computed exactly"
        raise self.error(f"{quoted(word)}, one of the {what}, {fault}. Correct it")

    def _is_filled(self) -> bool:
        """Read up to the next word; return whether there is one."""
        while self._next == len(self._words):
            words = self.lines.words()
            if words is None:
                return False
            is_comment = bool(words) and words[0].startswith(self.comments)
            self._words, self._next = [] if is_comment else words, 0
        return True


def is_number(word: bytes) -> bool:
    """Return whether a word is a non-negative number, with or without decimals."""
    return len(word) <= _LONGEST and _NUMBER.fullmatch(word) is not None


def decimals(words: list[bytes]) -> int:
    """Return the maximum number of decimals of these numbers."""
    return max((len(word.partition(b".")[2].rstrip(b"0")) for word in words), default=0)


def scaled(words: list[bytes], places: int) -> list[int]:
    """Return the numbers times ten to the power of `places`, which covers all decimals."""
    if not any(b"." in word for word in words):
        return [int(word) * 10**places for word in words]
    return [_scaled(word, places) for word in words]


def _scaled(word: bytes, places: int) -> int:
    whole, _, fraction = word.partition(b".")
    return int(whole + fraction.rstrip(b"0").ljust(places, b"0") or b"0")
