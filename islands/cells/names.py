"""The names of the instances of a batch, stored in its folder, one per line.

Names may also arrive from a pipe while instances are solved. Each is stored before its instance is
solved, so that `islands resume` knows which ones are left.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable
from pathlib import Path

from islands.errors import InputError
from islands.inside import inside, opened
from islands.paths import published, reading, writing
from islands.record.folder import BATCH_NAMES
from islands.untrusted import parsing

_LONGEST_NAME = 1 << 16


def kept_names(folder: Path) -> list[str]:
    """Return the names in a folder; an incomplete last line is ignored."""
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
    """Write the names to a folder, replacing those in it."""
    with (
        published(inside(folder, BATCH_NAMES)) as temporary,
        temporary.open("w", encoding="utf-8") as stream,
    ):
        stream.writelines(f"{json.dumps(name)}\n" for name in names)


def keeping(
    source: Iterable[str | None], folder: Path, known: Iterable[str]
) -> Generator[str | None]:
    """Yield each name that is not known, as soon as it is stored in the folder.

    The source yields None while no name is available; this function does, too.
    """
    seen, path = {*known}, inside(folder, BATCH_NAMES)
    with writing(path), opened(path, "a", encoding="utf-8") as stream:
        for name in source:
            if name is not None and name not in seen:
                seen.add(name)
                stream.write(f"{json.dumps(name)}\n")
                stream.flush()
                yield name
            elif name is None:
                yield None
