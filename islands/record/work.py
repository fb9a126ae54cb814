"""What a series, a tuning, an experiment or a measurement is doing, in a file for other processes.

The file is removed when all is done; without its process, it shows where the work ended.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from islands.errors import InputError
from islands.inside import inside
from islands.paths import published
from islands.progress.work import Work
from islands.untrusted import bounded_text, parsing, typed

WORK = ".work.json"


def write_work(folder: Path, work: Work) -> None:
    """Write the file; the work continues if this fails."""
    with suppress(InputError), published(inside(folder, WORK)) as temporary:
        temporary.write_text(json.dumps(asdict(work)) + "\n", encoding="utf-8")


def end_work(folder: Path) -> None:
    """Remove the file, as all pieces are done."""
    with suppress(OSError):
        (folder / WORK).unlink(missing_ok=True)


def read_work(folder: Path) -> Work | None:
    """Return what the work is doing, or was doing when it ended; None if all is done."""
    path = inside(folder, WORK)
    if not path.exists():
        return None
    with suppress(FileNotFoundError), parsing(path):
        return typed(Work, json.loads(bounded_text(path)))
    return None


def is_of_work(name: str) -> bool:
    """Return whether a file is this one, or one that a killed process was writing."""
    return name.lstrip(".").startswith(WORK.lstrip("."))
