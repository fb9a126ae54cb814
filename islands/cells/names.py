"""The names of the instances of a batch, which its folder keeps, a line each.

Names may also come while instances are solved, from a pipe: a thread keeps each as it comes, so
that `islands resume` knows those that are left.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Self

from islands.errors import InputError
from islands.inside import inside, opened
from islands.paths import published, reading, writing
from islands.record.folder import BATCH_NAMES
from islands.untrusted import parsing

_LONGEST_NAME = 1 << 16


def kept_names(folder: Path) -> list[str]:
    """Return the names in a folder, without one that was cut off."""
    path, names = inside(folder, BATCH_NAMES), list[str]()
    with reading(path):
        if not path.exists():
            return names
    with reading(path), opened(path) as stream:
        for line in iter(lambda: stream.readline(_LONGEST_NAME), b""):
            if not line.endswith(b"\n"):
                if len(line) == _LONGEST_NAME:
                    raise InputError(
                        f"{path}:{len(names) + 1}: has more than {_LONGEST_NAME} bytes, the limit"
                        " for a name. Remove that line"
                    )
                break
            with parsing(f"{path}:{len(names) + 1}", "is damaged", "Remove that line"):
                name = json.loads(line)
                if not isinstance(name, str):
                    raise ValueError("no text")
            names.append(name)
    return names


def keep_names(folder: Path, names: Iterable[str]) -> None:
    """Write the names into a folder, in place of those that it has."""
    with (
        published(inside(folder, BATCH_NAMES)) as temporary,
        temporary.open("w", encoding="utf-8") as stream,
    ):
        stream.writelines(f"{json.dumps(name)}\n" for name in names)


class Arriving:
    """Names that come while others are solved; a thread keeps them inside a `with` block."""

    def __init__(self, source: Iterator[str | None], folder: Path, known: Iterable[str]) -> None:
        """Take what yields the names, and None whenever none has come for a moment.

        `known` are the names that the folder has.
        """
        self._source, self._path = source, inside(folder, BATCH_NAMES)
        self._seen = {*known}
        self._error: BaseException | None = None
        self._ends = Event()
        self._thread = Thread(target=self._read, daemon=True)
        self.names = list[str]()
        """Those that have come so far, each once."""
        self.is_over = False
        """Whether all names have been taken, and no more will come."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()

    def __iter__(self) -> Iterator[str | None]:
        """Yield the names as they come, and None whenever there is none now."""
        taken = 0
        while not self.is_over:
            is_read = not self._thread.is_alive()  # look before: then all names are in the list
            while taken < len(self.names):
                taken += 1
                yield self.names[taken - 1]
            if is_read and self._error is not None:
                raise self._error
            self.is_over = is_read
            yield None

    def _read(self) -> None:
        try:
            with writing(self._path), opened(self._path, "a", encoding="utf-8") as stream:
                for name in self._source:
                    if self._ends.is_set():
                        return
                    if name is None or name in self._seen:
                        continue
                    self._seen.add(name)
                    stream.write(f"{json.dumps(name)}\n")
                    stream.flush()
                    self.names.append(name)
        except BaseException as error:
            self._error = error
