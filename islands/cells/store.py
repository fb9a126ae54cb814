"""The folder of a campaign and its ledger: a line for each cell, so that none is made again.

Only rank 0 has a file, to which lines are only added. A table, such as `runs.tsv`, is made from it.
In memory are the places of the lines, not the results: a batch may have a million.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO, TextIO

from islands.errors import InputError, UsageError
from islands.inside import inside, opened
from islands.paths import reading, writing
from islands.record.files import Row, append_row, write_table
from islands.record.folder import (
    BENCH,
    JOB,
    LEDGER,
    LONGEST_RESULT,
    FolderKind,
    kind_of,
    results_in,
)
from islands.record.lock import FolderLock
from islands.untrusted import MISMATCH, parsing

_EXPERIMENTS = (FolderKind.EXPERIMENT, FolderKind.EXPERIMENTS)


def refuse_unfit(folder: Path, kind: FolderKind, own: Collection[str] = ()) -> None:
    """Refuse a file, a folder with other work, and one with files but no work of this kind.

    `own` are names of files or folders that such a campaign may leave before its first result.
    Whether a campaign of this kind is the same one is for the caller to decide.
    """
    with reading(folder):
        if not folder.exists():
            return
        if not folder.is_dir():
            raise UsageError(f"--out {folder}: is a file. Name a new or existing folder")
        names = {path.name for path in folder.iterdir()}
        held = kind_of(folder)
        if held is FolderKind.MEASUREMENT and not (results_in(folder) or BENCH in names):
            held = None  # an experiment writes its settings after it has made its ledger
    alike = _EXPERIMENTS if kind in _EXPERIMENTS else (kind,)
    if names.intersection((*kind.marks, LEDGER)) and held in (None, *alike):
        return
    others = {name for name in names if not name.startswith(".")} - {*own, JOB}
    if held is not None and held not in alike:
        raise UsageError(
            f"--out {folder}: contains {held.words}, no {kind.noun}. Name a new folder"
        )
    if others:
        raise UsageError(
            f"--out {folder}: contains files, but no {kind.noun}. Name a new or empty folder, so"
            " that your files are not overwritten"
        )


def differing(kept: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Return the names of the settings that are not the same in a folder as in a request."""
    return [name for name in {**asked, **kept} if kept.get(name) != asked.get(name)]


Asked = Mapping[str, Any]
"""All that the result of a cell depends on."""
Made = dict[str, Any]
"""The result of a cell, as JSON has it."""


class Ledger:
    """What is asked of each cell, its result, and the seconds since the line before.

    Without a folder, there is no file. Cells with equal questions are distinguished by their order,
    which is always the same.
    """

    def __init__(
        self, folder: Path | None = None, kind: FolderKind = FolderKind.EXPERIMENT
    ) -> None:
        """Open the file in the folder, if there is one."""
        self._known: dict[bytes, tuple[int, ...]] = {}
        """Where the unused results of each question begin in the file."""
        self._path: Path | None = None
        self._stream: TextIO | None = None
        self._source: BinaryIO | None = None
        self._size = 0
        self._lock = FolderLock(kind.noun, kind.lock)
        self._seconds, self._since = 0.0, perf_counter()
        self.has_new = False
        """Whether this command has added lines."""
        self.table: LedgerTable | None = None
        if folder is not None:
            self.open(folder)

    def open(self, folder: Path, *, force: bool = False) -> None:
        """Lock the folder, unless this is done, and read the lines; with `force`, remove them.

        An incomplete last line is dropped.
        """
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        self._lock.take(folder)
        if self._path is not None:
            return
        path = inside(folder, LEDGER)
        try:
            if force:
                with writing(path):
                    path.unlink(missing_ok=True)
            if path.exists():
                self._read(path)
        except BaseException:
            self.close()  # an exception may keep this object, and thus the lock, for long
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

    def __len__(self) -> int:
        """Return the number of known results that are not used yet."""
        return sum(map(len, self._known.values()))

    def remove(self) -> None:
        """Close the file, and remove its folder, which contains nothing else."""
        self.close()
        if self._path is not None:
            with writing(self._path):
                self._path.unlink(missing_ok=True)
                self._path.parent.rmdir()

    def seconds(self) -> float:
        """Return the time of all commands that have written to the file, also of killed ones."""
        return self._seconds + perf_counter() - self._since

    def tabulate(
        self,
        path: Path,
        columns: Sequence[str],
        row_of: Callable[[Asked, Made], Row],
        *,
        is_read: bool = True,
    ) -> None:
        """Keep a table as well, unless this is done; see `LedgerTable`."""
        if self.table is None:
            self.table = LedgerTable(path, columns, row_of, self.entries(), is_read=is_read)

    def adopt(self, entries: Iterable[tuple[Asked, Made, float]]) -> None:
        """Add results of an earlier version, with their seconds."""
        for asked, made, seconds in entries:
            self._remember(asked, self._write(asked, made, seconds))

    def entries(self) -> Iterable[tuple[Asked, Made]]:
        """Yield what was asked and made, of all known results that are not used yet."""
        for places in self._known.values():
            for place in places:
                entry = self._entry_at(place)
                yield entry["asked"], entry["result"]

    def take(self, asked: Asked) -> Made | None:
        """Return the known result of a cell, which is used with this; None if it is not made."""
        digest = _digest(asked)
        if not (places := self._known.get(digest)):
            return None
        self._known[digest] = places[1:]
        return dict(self._entry_at(places[0])["result"])

    def add(self, asked: Asked, made: Made) -> None:
        """Add a line, and a row of the table."""
        if self._path is None:
            return
        now = perf_counter()
        self._write(asked, made, now - self._since)
        self._since, self.has_new = now, True
        if self.table is not None:
            self.table.add(asked, made)

    def _write(self, asked: Asked, made: Made, seconds: float) -> int:
        """Add a line; return where it begins."""
        assert self._path is not None
        entry = {"asked": json.loads(_key(asked)), "result": made, "seconds": seconds}
        self._seconds += seconds
        with writing(self._path):
            if self._stream is None:
                self._stream = opened(self._path, "a", encoding="utf-8")
            line = json.dumps(entry | {"sha256": _checksum(entry)}) + "\n"
            place, self._size = self._size, self._size + len(line)
            self._stream.write(line)
            self._stream.flush()
        return place

    def _read(self, path: Path) -> None:
        with reading(path), opened(path) as stream:
            for number, line in enumerate(iter(lambda: stream.readline(LONGEST_RESULT), b""), 1):
                if not line.endswith(b"\n"):
                    self._refuse_long(path, number, line)
                    break
                with parsing(f"{path}:{number}", "is damaged", "Remove that line"):
                    entry = json.loads(line)
                    if entry.pop("sha256", None) != _checksum(entry):
                        raise ValueError(MISMATCH)
                    dict(entry["result"])
                    self._remember(entry["asked"], self._size)
                    self._seconds += entry.get("seconds", 0.0)  # earlier files have none
                self._size += len(line)
            is_whole = stream.tell() == self._size
        if not is_whole:
            with writing(path), opened(path, "a+b") as file:
                file.truncate(self._size)

    def _refuse_long(self, path: Path, number: int, line: bytes) -> None:
        if len(line) == LONGEST_RESULT:
            raise InputError(
                f"{path}:{number}: has more than {LONGEST_RESULT} bytes, the limit for the result"
                " of a run. Remove that line"
            )

    def _remember(self, asked: Asked, place: int) -> None:
        digest = _digest(asked)
        self._known[digest] = (*self._known.get(digest, ()), place)

    def _entry_at(self, place: int) -> dict[str, Any]:
        assert self._path is not None
        with reading(self._path), parsing(self._path):
            if self._source is None:
                self._source = opened(self._path)
            self._source.seek(place)
            return dict(json.loads(self._source.readline()))


def plain(made: Mapping[str, Any]) -> Made:
    """Return a result as it is read later: through JSON, with NumPy's numbers as Python's."""
    return dict(json.loads(json.dumps(made, default=lambda number: number.item())))


def _key(asked: Asked) -> str:
    return json.dumps(asked, sort_keys=True)


def _digest(asked: Asked) -> bytes:
    return hashlib.blake2b(_key(asked).encode(), digest_size=16).digest()


def _checksum(entry: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()


class LedgerTable:
    """A table with a row for each question of a ledger, of the last result."""

    def __init__(
        self,
        path: Path,
        columns: Sequence[str],
        row_of: Callable[[Asked, Made], Row],
        entries: Iterable[tuple[Asked, Made]],
        *,
        is_read: bool = True,
    ) -> None:
        """Write the table again, as a killed process may have left it without its last row.

        Without `is_read`, all questions differ and no row is read, so that none is kept in memory.
        """
        self._path, self._columns, self._row_of = path, columns, row_of
        self._is_read = is_read
        self._rows: dict[str, Row] = {}
        if is_read:
            self._rows = {_key(asked): row_of(asked, made) for asked, made in entries}
            rows = iter(self._rows.values())
        else:
            rows = (row_of(asked, made) for asked, made in entries)
        if (first := next(rows, None)) is not None:
            write_table(path, columns, chain([first], rows))
        else:
            with writing(path):
                path.unlink(missing_ok=True)

    def row(self, asked: Asked) -> Row | None:
        """Return the row of a question, or None."""
        return self._rows.get(_key(asked))

    def add(self, asked: Asked, made: Made) -> None:
        """Add a row, or replace one."""
        key, row = _key(asked), self._row_of(asked, made)
        if not self._is_read:
            append_row(self._path, self._columns, row)
        elif key in self._rows:
            self._rows[key] = row
            write_table(self._path, self._columns, self._rows.values())
        else:
            append_row(self._path, self._columns, row)
            self._rows[key] = row
