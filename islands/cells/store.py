"""Stores: the results of finished cells, one line each, in the folder of a command.

Only rank 0 has the file, to which lines are only appended. A table, such as `runs.tsv`, is derived
from it. Memory contains the positions of the lines, not the results: a batch may have a million.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO, TextIO

from islands.inside import complete_lines, inside, opened
from islands.paths import reading, writing
from islands.record.files import Row, append_row, write_table
from islands.record.folder import LEDGER, LONGEST_RESULT, MANY_LOCK, FolderKind
from islands.record.lock import FolderLock
from islands.untrusted import MISMATCH, content_digest, parsing

Key = Mapping[str, Any]
"""Everything that determines the result of a cell, as JSON types."""
StoredResult = dict[str, Any]
"""The result of a cell, as JSON types."""
DEVICE_SETTINGS = ("backend", "threads")
"""Settings that do not affect results; they may differ when a command is repeated."""


class Store:
    """The keys and results of cells, and the seconds that each cell took.

    Without a folder, nothing is kept. Cells with equal keys are distinguished by their order, which
    is always the same.
    """

    def __init__(self, kind: FolderKind = FolderKind.EXPERIMENT) -> None:
        """Begin without a folder."""
        self._kind, self._lock = kind, FolderLock(kind.noun, kind.lock)
        self._known: dict[bytes, tuple[int, ...]] = {}
        """The positions of the unused results in the opened file, by the digest of the key."""
        self._path: Path | None = None
        self._stream: TextIO | None = None
        self._source: BinaryIO | None = None
        self._seconds, self._since = 0.0, perf_counter()
        self._table: tuple[Path, Sequence[str], Callable[[Key, StoredResult], Row]] | None = None
        self.has_new = False
        """Whether this command has added lines."""

    def open(self, folder: Path, *, force: bool = False) -> None:
        """Lock the folder and read its lines, unless it is open; with `force`, remove the lines.

        An incomplete last line is removed.
        """
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        self._lock.acquire(folder)
        if self._path is not None:
            return
        path, lock = inside(folder, LEDGER), inside(folder, MANY_LOCK)
        try:
            with writing(lock), opened(lock, "wb") as stream:
                stream.write(f"{self._kind.noun}\n".encode())
            if force:
                with writing(path):
                    path.unlink(missing_ok=True)
            if path.exists():
                self._read(path)
        except BaseException:
            self.close()  # the exception may refer to this object, and thus keep the lock
            raise
        self._path = path

    def close(self) -> None:
        """Close the file and release the lock."""
        with self._lock:
            if self._source is not None:
                self._source.close()
            if self._stream is not None and self._path is not None:
                # This tries again to write a line that did not fit on the disk.
                with writing(self._path):
                    self._stream.close()

    def remove(self) -> None:
        """Close the file, and remove its folder, which contains nothing else."""
        self.close()
        if self._path is not None:
            with writing(self._path):
                for name in (LEDGER, MANY_LOCK):
                    (self._path.parent / name).unlink(missing_ok=True)
                self._path.parent.rmdir()

    def __len__(self) -> int:
        """Return the number of known results that are not used yet."""
        return sum(map(len, self._known.values()))

    def seconds(self) -> float:
        """Return the time of all commands that have written to the file, including killed ones."""
        return self._seconds + perf_counter() - self._since

    def known(self, key: Key) -> StoredResult | None:
        """Pop the first stored result of a cell, or None."""
        digest = _digest(key)
        if not (places := self._known.get(digest)):
            return None
        self._known[digest] = places[1:]
        return self._entry_at(places[0])[1]

    def add(self, key: Key, result: StoredResult) -> None:
        """Add a line, and add or replace a row of the table."""
        if self._path is None:
            return
        now = perf_counter()
        seconds = now - self._since
        entry = {"asked": json.loads(_text(key)), "result": result, "seconds": seconds}
        self._seconds += seconds
        line = json.dumps(entry | {"sha256": content_digest(entry)}) + "\n"
        with writing(self._path):
            if self._stream is None:
                self._stream = opened(self._path, "a", encoding="utf-8")
            self._stream.write(line)
            self._stream.flush()
        self._since, self.has_new = now, True
        if self._table is not None and _digest(key) in self._known:
            last = {_digest(key): begin for begin, _, key, _ in self._lines(self._path)}
            self._write_table(last.values())
        elif self._table is not None:
            path, columns, row_of = self._table
            append_row(path, columns, row_of(key, result))

    def tabulate(
        self, path: Path, columns: Sequence[str], row_of: Callable[[Key, StoredResult], Row]
    ) -> None:
        """Also write a table of the last result of each key; call this before using results."""
        self._table = path, columns, row_of
        # A killed process may have left the table without its last row.
        self._write_table([places[-1] for places in self._known.values()])

    def _write_table(self, places: Collection[int]) -> None:
        assert self._table is not None
        path, columns, row_of = self._table
        if places:
            write_table(path, columns, (row_of(*self._entry_at(place)) for place in places))
        else:
            with writing(path):
                path.unlink(missing_ok=True)

    def _read(self, path: Path) -> None:
        end = 0
        for begin, after, key, seconds in self._lines(path):
            digest = _digest(key)
            self._known[digest] = (*self._known.get(digest, ()), begin)
            self._seconds += seconds
            end = after
        with reading(path):
            is_whole = path.stat().st_size == end
        if not is_whole:
            with writing(path), opened(path, "a+b") as file:
                file.truncate(end)

    def _lines(self, path: Path) -> Iterator[tuple[int, int, Key, float]]:
        """Yield where the complete lines begin and end, with their keys and seconds."""
        begin = 0
        for place, line in complete_lines(path, LONGEST_RESULT, "the result of a run"):
            with parsing(place, "is damaged", "Remove that line"):
                entry = json.loads(line)
                if entry.pop("sha256", None) != content_digest(entry):
                    raise ValueError(MISMATCH)
                dict(entry["result"])
                rest = entry["asked"], entry["seconds"]
            end = begin + len(line)
            yield begin, end, *rest
            begin = end

    def _entry_at(self, place: int) -> tuple[Key, StoredResult]:
        assert self._path is not None
        with reading(self._path), parsing(self._path):
            if self._source is None:
                self._source = opened(self._path)
            self._source.seek(place)
            entry = json.loads(self._source.readline())
            return entry["asked"], dict(entry["result"])


def plain(result: Mapping[str, Any]) -> StoredResult:
    """Return a result as JSON stores it: NumPy's numbers become Python's."""
    return dict(json.loads(json.dumps(result, default=lambda number: number.item())))


def file_sha256(path: Path) -> str:
    """Return the digest of a regular file; an empty string for others, such as pipes."""
    with reading(path):
        if not path.is_file():
            return ""
        status = path.stat()
        return _sha256_of(path, status.st_size, status.st_mtime_ns)


@lru_cache(16)  # a file may contain many instances
def _sha256_of(path: Path, _size: int, _changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def differing(kept: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Return the names of the settings that differ between a folder and a request."""
    return [name for name in {**asked, **kept} if kept.get(name) != asked.get(name)]


def _text(key: Key) -> str:
    return json.dumps(key, sort_keys=True)


def _digest(key: Key) -> bytes:
    return hashlib.blake2b(_text(key).encode(), digest_size=16).digest()
