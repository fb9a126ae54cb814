"""The names of the instances of a batch, stored in its folder, one per line.

Names may also arrive from a pipe while instances are solved. A name is stored before its instance
is solved, so that `islands resume` knows which instances are left.
"""

import json
from collections.abc import Generator, Iterable
from pathlib import Path

from islands.inside import complete_lines, inside, opened
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
    for place, line in complete_lines(path, _LONGEST_NAME, "a name"):
        with parsing(place, "is damaged", "Remove that line"):
            names.append(json.loads(line))
            if not isinstance(names[-1], str):
                raise ValueError("not a string")
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
    """Yield the new names of a source after storing them in the folder.

    None, which the source yields while no name is available, is passed on.
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
