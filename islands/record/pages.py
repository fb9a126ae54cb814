"""What a Parquet file contains: its footer and the headers of its pages, read before Arrow does.

Arrow allocates what these say, and ends the process if they are damaged. So files are refused that
have what `write_parquet` does not write: few bytes of other compressions and encodings may contain
gigabytes. The format is https://github.com/apache/parquet-format, with Thrift's compact protocol.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any

_MAGIC, _END = b"PAR1", 8
_LONGEST_FOOTER, _LONGEST_HEADER, _LARGEST_PAGE = 1 << 24, 1 << 13, 1 << 22
_MOST_COLUMNS, _MOST_GROUPS, _DEEPEST = 32, 1 << 13, 16
LONGEST_TEXT = 32
"""Bytes of a text in a column: few, as dictionaries contain once what every row may have."""
_WRITER = b"parquet-cpp-arrow version "
_PLAIN, _SNAPPY = 0, 1
"""The compressions that are read."""
_DENSEST = 22
"""Snappy writes at least 3 bytes for 64."""
_ENCODINGS = (0, 2, 3, 8)
"""PLAIN, PLAIN_DICTIONARY, RLE and RLE_DICTIONARY: no value is made of the one before."""
_DATA, _DICTIONARY = 0, 2
"""The types of pages that are read."""
_TEXT, _LENGTH = 6, 4
"""The type of texts, and the bytes of each length in a page: the fewest of a value there."""
_TRUE, _FALSE, _BYTE, _SHORT, _INT, _LONG, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(
    1, 13
)
"""The types of Thrift's compact protocol."""

_COLUMN = {1: _INT, 4: _INT, 5: _LONG, 7: _LONG, 9: _LONG, 11: _LONG}
_PAGE = {1: _INT, 2: _INT, 3: _INT, 5: {1: _INT, 2: _INT}, 7: {1: _INT, 2: _INT}}
_FOOTER = {
    2: [{1: _INT, 4: _BINARY, 5: _INT}],
    3: _LONG,
    4: [{1: [{1: _BINARY, 3: _COLUMN, 8: {}, 9: _BINARY}], 3: _LONG}],
    6: _BINARY,
}
"""The fields that are read, by number: a type, the fields of a structure, or those of a list."""


@dataclass(frozen=True)
class _Chunk:
    """The values of a column in a group of rows."""

    kind: int
    codec: int
    rows: int
    start: int
    end: int


@dataclass(frozen=True)
class Contents:
    """The columns of text, the rows, and where the pages are."""

    texts: list[str]
    rows: int
    _chunks: list[_Chunk] = field(repr=False)

    @classmethod
    def of(cls, stream: IO[bytes]) -> Contents:
        """Read the footer; raise a `ValueError` if no run writes such a file."""
        size = os.fstat(stream.fileno()).st_size
        stream.seek(max(0, size - _END))
        end = stream.read(_END)
        length = int.from_bytes(end[:4], "little")
        _require(size > 2 * _END and end[4:] == _MAGIC, "it has no footer")
        _require(length <= min(_LONGEST_FOOTER, size - _END), f"its footer has {length} bytes")
        begin = size - _END - length
        stream.seek(begin)
        facts = _Thrift(stream.read(length)).struct(_FOOTER)
        columns, groups = facts[2][1:], facts[4]
        is_ours = len(columns) <= _MOST_COLUMNS and len(groups) <= _MOST_GROUPS
        _require(is_ours, "it has columns that no run writes, or too many parts")
        _require(all(1 in each and 5 not in each for each in columns), "it has nested columns")
        _require(facts.get(6, b"").startswith(_WRITER), "another program has written it")
        chunks, at = list[_Chunk](), len(_MAGIC)
        for group in groups:
            _require(len(group[1]) == len(columns), "a part lacks columns")
            for column, schema in zip(group[1], columns, strict=True):
                _require(column.keys() == {3}, "some of it is elsewhere, or encrypted")
                each = column[3]
                start = min(each[9], each.get(11) or each[9])
                chunk = _Chunk(each[1], each[4], group[3], start, start + each[7])
                is_own = each[1] == schema[1] and each[5] == group[3] >= 0
                _require(is_own and at <= start <= chunk.end <= begin, "its parts overlap")
                _require(each[4] in (_PLAIN, _SNAPPY), "a column has another compression")
                chunks.append(chunk)
                at = chunk.end
        _require(sum(group[3] for group in groups) == facts[3], "it has another number of rows")
        texts = [each[4].decode() for each in columns if each[1] == _TEXT]
        return cls(texts, facts[3], chunks)

    def require_small(self, stream: IO[bytes]) -> None:
        """Raise a `ValueError` if the pages contain more than a run writes, or other rows."""
        for chunk in self._chunks:
            rows, at = 0, chunk.start
            while at < chunk.end:
                stream.seek(at)
                thrift = _Thrift(stream.read(min(_LONGEST_HEADER, chunk.end - at)))
                page = thrift.struct(_PAGE)
                rows += _rows_of(page, chunk)
                at += thrift.at + page[3]
            _require(at == chunk.end and rows == chunk.rows, "it has another number of rows")


def _rows_of(page: dict[int, Any], chunk: _Chunk) -> int:
    """Return the number of rows of a page; refuse one that is too large, or of another kind."""
    kind, size, stored = page[1], page[2], page[3]
    _require(kind in (_DATA, _DICTIONARY), "it has pages of another type")
    count, encoding = page[5 if kind == _DATA else 7][1], page[5 if kind == _DATA else 7][2]
    _require(encoding in _ENCODINGS and min(stored, size, count) >= 0, "it has other pages")
    _require(size <= (_DENSEST * stored if chunk.codec == _SNAPPY else stored), "a page is longer")
    if kind == _DICTIONARY:
        is_short = chunk.kind != _TEXT or size <= count * (_LENGTH + LONGEST_TEXT)
        _require(is_short, f"a text has more than {LONGEST_TEXT} bytes")
        _require(count * _LENGTH <= size, "a dictionary has too few bytes")
    _require(size <= _LARGEST_PAGE, f"a page has more than {_LARGEST_PAGE} bytes")
    return count if kind == _DATA else 0


def _require(is_fit: bool, fault: str) -> None:
    if not is_fit:
        raise ValueError(fault)


class _Thrift:
    """Reads a structure of Thrift's compact protocol; an `IndexError` says that it is cut off."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0
        """The bytes that have been read."""

    def struct(self, wanted: dict[int, Any], depth: int = 0) -> dict[int, Any]:
        """Return the wanted fields by number; skip the others."""
        return {
            number: self._value(kind, wanted[number], depth)
            for number, kind in self._fields(depth)
            if number in wanted or self._skip(kind, depth)
        }

    def _fields(self, depth: int) -> Iterator[tuple[int, int]]:
        """Yield the number and the type of each field, whose value the caller reads."""
        _require(depth <= _DEEPEST, "it is nested too deeply")
        number = 0
        while (head := self._byte()) != 0:
            last, step = number, head >> 4
            number = number + step if step else self._integer()
            _require(number > last, "its fields have no order")
            yield number, head & 15

    def _value(self, kind: int, wanted: Any, depth: int) -> Any:
        if isinstance(wanted, list):
            _require(kind == _LIST, "a field has another type")
            count, kind = self._list()
            return [self._value(kind, wanted[0], depth + 1) for _ in range(count)]
        if isinstance(wanted, dict):
            _require(kind == _STRUCT, "a field has another type")
            return self.struct(wanted, depth + 1)
        _require(kind == wanted, "a field has another type")
        return self._bytes(self._varint()) if kind == _BINARY else self._integer()

    def _skip(self, kind: int, depth: int) -> bool:
        """Skip a value; return False."""
        _require(depth <= _DEEPEST, "it is nested too deeply")
        if kind in (_BYTE, _DOUBLE):
            self._bytes(1 if kind == _BYTE else 8)
        elif kind in (_SHORT, _INT, _LONG):
            self._varint()
        elif kind == _BINARY:
            self._bytes(self._varint())
        elif kind in (_LIST, _SET):
            count, kind = self._list()
            for _ in range(count):
                self._skip(_BYTE if kind in (_TRUE, _FALSE) else kind, depth + 1)
        elif kind == _STRUCT:
            for _, each in self._fields(depth + 1):
                self._skip(each, depth + 1)
        else:
            _require(kind in (_TRUE, _FALSE), "a field has an unknown type")
        return False

    def _list(self) -> tuple[int, int]:
        """Return the number and the type of the values of a list."""
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._varint()
        _require(count <= len(self._data) - self.at, "a list is cut off")
        return count, head & 15

    def _integer(self) -> int:
        coded = self._varint()
        return coded >> 1 ^ -(coded & 1)

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 128:
            value |= (byte & 127) << shift
            shift += 7
            _require(shift < 70, "a number is too long")
        return value | byte << shift

    def _byte(self) -> int:
        byte = self._data[self.at]
        self.at += 1
        return byte

    def _bytes(self, count: int) -> bytes:
        _require(count <= len(self._data) - self.at, "a text is cut off")
        self.at += count
        return self._data[self.at - count : self.at]
