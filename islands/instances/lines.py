"""Read a text file, plain or gzipped, line by line in bounded memory."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Self, cast

from islands.errors import InputError
from islands.paths import reading

_LINE = 1 << 16
_WORD = 64
_HEADER = 1 << 18
_DEFLATE = 1032
"""Maximum ratio of the text's length to its gzip file's: deflate's limit."""
_FIX = "Get the file again, or name another one"


class Lines:
    """The lines of an open text file; errors name the file and the line.

    A file must not be longer than its header justifies: reading fails if it exceeds an allowance,
    which `allow` increases. Neither a long file nor a decompression bomb exhausts memory.
    """

    def __init__(self, stream: BinaryIO, path: Path, longest: int) -> None:
        self.path = path
        self.number = 0
        self.longest = longest
        """Upper bound of the bytes of text in the file."""
        self._stream = stream
        self._allowance = _HEADER
        self._line_ended = True
        self._cut = b""

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator[Self]:
        """Open a file; its first bytes show whether it is gzipped.

        Refuse a file with the suffix `.gz` that is not gzipped, as it may be damaged.
        """
        with reading(path):
            size = _size(path)
            raw = path.open("rb")
        with raw:
            if raw.read(2) == b"\x1f\x8b":
                raw.seek(0)
                unzipped = io.BufferedReader(cast(io.RawIOBase, gzip.GzipFile(fileobj=raw)))
                yield cls(cast(BinaryIO, unzipped), path, size * _DEFLATE)
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
                    f"{shown(self._cut)} has more than {_WORD} bytes, too long for a number. {_FIX}"
                )
        return words

    def error(self, message: str) -> InputError:
        """Return an error that names the current line."""
        return InputError(f"{self.path}:{max(1, self.number)}: {message}")

    def _piece(self) -> bytes:
        """Return the next line, or the next part of a long one; empty at the end of the file.

        A part begins with the word that the previous part cut in two.
        """
        try:
            read = self._stream.readline(_LINE)
        except (OSError, EOFError, zlib.error) as problem:
            reason = str(problem).rstrip(".")
            raise self.error(f"cannot be read further: {reason}. Get the file again") from None
        if self.number == 0:  # some editors begin a file with a byte order mark
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


def shown(raw: bytes) -> str:
    """Return bytes of a file in a form for messages: short, quoted and printable."""
    text = raw[:40].decode("utf-8", "backslashreplace")
    return ascii(text) + ("..." if len(raw) > 40 else "")


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
