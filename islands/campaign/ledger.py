"""The folder of a campaign and its ledger: a line for each cell, so that none is made again.

Only rank 0 has a file, to which lines are only added. A table, such as `runs.tsv`, is made from it.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, TextIO

from islands.errors import InputError, UsageError
from islands.inside import inside, opened
from islands.paths import reading, writing
from islands.record.files import Row, append_row, write_table
from islands.record.folder import (
    BENCH,
    JOB,
    LEDGER,
    MOST_RESULTS,
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
        self._known: defaultdict[str, deque[Made]] = defaultdict(deque)
        self._path: Path | None = None
        self._stream: TextIO | None = None
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
            self._write(asked, made, seconds)
            self._known[_key(asked)].append(made)

    def entries(self) -> Iterable[tuple[Asked, Made]]:
        """Yield what was asked and made, of all known results that are not used yet."""
        for key, results in self._known.items():
            yield from ((json.loads(key), result) for result in results)

    def take(self, asked: Asked) -> Made | None:
        """Return the known result of a cell, which is used with this; None if it is not made."""
        known = self._known.get(_key(asked))
        return known.popleft() if known else None

    def add(self, asked: Asked, made: Made) -> None:
        """Add a line, and a row of the table."""
        if self._path is None:
            return
        now = perf_counter()
        self._write(asked, made, now - self._since)
        self._since, self.has_new = now, True
        if self.table is not None:
            self.table.add(asked, made)

    def _write(self, asked: Asked, made: Made, seconds: float) -> None:
        assert self._path is not None
        entry = {"asked": json.loads(_key(asked)), "result": made, "seconds": seconds}
        self._seconds += seconds
        with writing(self._path):
            if self._stream is None:
                self._stream = opened(self._path, "a", encoding="utf-8")
            self._stream.write(json.dumps(entry | {"sha256": _checksum(entry)}) + "\n")
            self._stream.flush()

    def _read(self, path: Path) -> None:
        with reading(path), opened(path) as stream:
            text = stream.read(MOST_RESULTS + 1)
        if len(text) > MOST_RESULTS:
            raise InputError(
                f"{path}: has more than {MOST_RESULTS} bytes, the limit for the results of runs."
                " Name another folder"
            )
        whole = text[: text.rfind(b"\n") + 1]
        if whole != text:
            with writing(path), opened(path, "a+b") as stream:
                stream.truncate(len(whole))
        for number, line in enumerate(whole.splitlines(), 1):
            with parsing(f"{path}:{number}", "is damaged", "Remove that line"):
                entry = json.loads(line)
                if entry.pop("sha256", None) != _checksum(entry):
                    raise ValueError(MISMATCH)
                self._known[_key(entry["asked"])].append(dict(entry["result"]))
                self._seconds += entry.get("seconds", 0.0)  # earlier files have none


def plain(made: Mapping[str, Any]) -> Made:
    """Return a result as it is read later: through JSON, with NumPy's numbers as Python's."""
    return dict(json.loads(json.dumps(made, default=lambda number: number.item())))


def _key(asked: Asked) -> str:
    return json.dumps(asked, sort_keys=True)


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
        rows = {_key(asked): row_of(asked, made) for asked, made in entries}
        self._rows = rows if is_read else {}
        if rows:
            write_table(path, columns, rows.values())
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
