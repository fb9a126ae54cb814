"""What the runs of an experiment came to: each is kept when it has ended, and never made again."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO

from islands.errors import InputError
from islands.parallel import World
from islands.paths import reading, writing
from islands.record.lock import FolderLock
from islands.untrusted import MISMATCH, parsing

LEDGER = "runs.jsonl"


class Ledger:
    """Lines of a file, each with what was asked for and what came of it; or of no file.

    Runs that ask for the same are told apart by their order, in which they are always made.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """Read the lines so far; a last one that is not whole is forgotten."""
        self._known: defaultdict[str, deque[Any]] = defaultdict(deque)
        self._stream: TextIO | None = None
        self._hold = FolderLock("experiment", LEDGER)
        if folder is not None:
            self._path = path = folder / LEDGER
            with writing(path):
                folder.mkdir(parents=True, exist_ok=True)
            self._hold.take(folder)
            with writing(path):
                self._stream = path.open("a", encoding="utf-8")
            self._read(path)

    def close(self) -> None:
        """Let another process go on."""
        with self._hold:
            if self._stream is not None:
                # A line for which there was no room is tried once more.
                with writing(self._path):
                    self._stream.close()

    def __len__(self) -> int:
        """Return how many results are known that nobody has asked for yet."""
        return sum(map(len, self._known.values()))

    def kept(
        self, asked: Mapping[str, Any], world: World, run: Callable[[], Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Return what came of a run, which is made where that is not known; collective.

        The ledger of rank 0 counts.
        """
        key = json.dumps(asked, sort_keys=True)
        known = self._known[key]
        if world.bcast(bool(known)):
            return dict(world.bcast(known.popleft() if world.rank == 0 else {}))
        # As it is when it is read again.
        result = json.loads(json.dumps(run(), default=_plain))
        if self._stream is not None:
            with writing(self._path):
                entry = {"asked": json.loads(key), "result": result}
                self._stream.write(json.dumps(entry | {"sha256": _checksum(entry)}) + "\n")
                self._stream.flush()
        return dict(result)

    def _read(self, path: Path) -> None:
        with reading(path):
            text = path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if whole != text:
            assert self._stream is not None
            with writing(path):
                self._stream.truncate(len(whole))
        for number, line in enumerate(whole.splitlines(), 1):
            with parsing(f"{path}:{number}", "cannot be read: remove that line"):
                entry = json.loads(line)
                if entry.pop("sha256") != _checksum(entry):
                    raise InputError(f"{path}:{number}: {MISMATCH}. Remove that line")
                self._known[json.dumps(entry["asked"], sort_keys=True)].append(entry["result"])


def _checksum(entry: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()


def _plain(number: Any) -> Any:
    """Return a number of NumPy's as JSON takes it."""
    return number.item()
