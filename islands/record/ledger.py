"""The results of runs of an experiment or a benchmark, kept so that no run is repeated."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any, TextIO

from islands.errors import InputError
from islands.inside import inside, opened
from islands.parallel import World
from islands.paths import reading, writing
from islands.record.folder import MOST_RESULTS, RESULTS
from islands.record.lock import FolderLock
from islands.untrusted import MISMATCH, parsing

LEDGER = RESULTS


class RunLedger:
    """A file with one line per run: its options, its result, and the seconds since the line before.

    Without a folder, there is no file.

    Runs with equal options are distinguished by their order, which is always the same.
    """

    def __init__(self, folder: Path | None = None, work: str = "experiment") -> None:
        """Open the file in the folder, if there is one. Use `work` in messages."""
        self._known: defaultdict[str, deque[Any]] = defaultdict(deque)
        self._stream: TextIO | None = None
        self._lock = FolderLock(work, LEDGER)
        self._seconds, self._since = 0.0, perf_counter()
        if folder is not None:
            self.open(folder)

    def open(self, folder: Path) -> None:
        """Lock the folder, and read the existing lines; drop an incomplete last one."""
        self._path = path = inside(folder, LEDGER)
        with writing(path):
            folder.mkdir(parents=True, exist_ok=True)
        self._lock.take(folder)
        try:
            with writing(path):
                self._stream = opened(path, "a", encoding="utf-8")
            self._read(path)
        except BaseException:
            self.close()  # an exception may keep this object, and thus the lock, for long
            raise

    def close(self) -> None:
        """Close the file and release the lock."""
        with self._lock:
            if self._stream is not None:
                # This tries again to write a line that did not fit on the disk.
                with writing(self._path):
                    self._stream.close()

    def __len__(self) -> int:
        """Return the number of known results that are not used yet."""
        return sum(map(len, self._known.values()))

    def remove(self) -> None:
        """Close the file, and remove its folder, which contains nothing else."""
        self.close()
        if self._stream is not None:
            with writing(self._path):
                self._path.unlink()
                self._path.parent.rmdir()

    def seconds(self) -> float:
        """Return the time of all commands that have written to the file, also of killed ones."""
        return self._seconds + perf_counter() - self._since

    def result_of(
        self, options: Mapping[str, Any], world: World, run: Callable[[], Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Return the known result of a run, or run it; collective.

        Rank 0 decides whether the result is known.
        """
        key = json.dumps(options, sort_keys=True)
        known = self._known[key]
        if world.bcast(bool(known)):
            return dict(world.bcast(known.popleft() if world.rank == 0 else {}))
        # Through JSON, so that it equals the result that is read later.
        result = json.loads(json.dumps(run(), default=_plain))
        if self._stream is not None:
            now = perf_counter()
            entry = {"asked": json.loads(key), "result": result, "seconds": now - self._since}
            self._seconds, self._since = self._seconds + entry["seconds"], now
            with writing(self._path):
                self._stream.write(json.dumps(entry | {"sha256": _checksum(entry)}) + "\n")
                self._stream.flush()
        return dict(result)

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
            assert self._stream is not None
            with writing(path):
                self._stream.truncate(len(whole))
        for number, line in enumerate(whole.splitlines(), 1):
            with parsing(f"{path}:{number}", "is damaged", "Remove that line"):
                entry = json.loads(line)
                if entry.pop("sha256", None) != _checksum(entry):
                    raise ValueError(MISMATCH)
                self._known[json.dumps(entry["asked"], sort_keys=True)].append(entry["result"])
                self._seconds += entry.get("seconds", 0.0)  # earlier files have none


def _checksum(entry: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()


def _plain(number: Any) -> Any:
    """Return a NumPy number as a Python number."""
    return number.item()
