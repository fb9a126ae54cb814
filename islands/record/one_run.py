"""Whether the files of a run's folder belong to one run: compare the identity that each carries.

A file of another run may have been copied into the folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from islands.errors import InputError
from islands.inside import inside
from islands.record.checkpoint import LONGEST_MANIFEST, newest_first
from islands.record.folder import (
    CHECKPOINTS,
    FINISHED,
    MANIFEST,
    MIGRATIONS,
    PROBLEM,
    RUN_SETTINGS,
    TRACE,
)
from islands.record.inputs import RUN_LINE, SIGNATURE_LINE, has_problem, stored_signature
from islands.record.parquet import metadata_of
from islands.record.stream import stream_metadata
from islands.record.tables import files_of
from islands.text import escaped
from islands.untrusted import bounded_text, parsing


class _Mark(NamedTuple):
    """What identifies the run of a file; a file lacks what is empty."""

    run: str
    end: tuple[str, str] = ("", "")
    """The number of the start that finished the run, and the digest of the result."""


def strangers(folder: Path) -> dict[str, str]:
    """Return the files that do not belong to the run of `run.toml`, each with the reason.

    Files that cannot be read are left out: their readers report it.
    """
    text = bounded_text(folder / RUN_SETTINGS)
    run, signature = _line(text, RUN_LINE), _line(text, SIGNATURE_LINE)
    marks = dict(_marks(folder))
    end = marks[FINISHED].end if FINISHED in marks else ("", "")
    found = {}
    for name, mark in marks.items():
        if run and mark.run and mark.run != run:
            found[name] = f"{name} belongs to another run than {RUN_SETTINGS}"
        elif all(end) and all(mark.end) and mark.end != end:
            found[name] = f"{name} belongs to another run, or another start, than {FINISHED}"
    if signature and has_problem(folder) and stored_signature(folder) not in ("", signature):
        found[PROBLEM] = f"{PROBLEM} contains another problem than that of {RUN_SETTINGS}"
    return found


def warnings(folder: Path) -> list[str]:
    """Return a sentence about files of other runs in a folder; none if there are none."""
    found: dict[str, str] = {}
    with suppress(InputError):  # readers of the settings report it
        found = strangers(folder) if (folder / RUN_SETTINGS).is_file() else {}
    words = f"{folder} mixes files of different runs: {'; '.join(found.values())}"
    return [escaped(words, kept="")] if found else []


def require_core(folder: Path) -> None:
    """Refuse to resume a folder whose result or problem is that of another run."""
    found = strangers(folder)
    if found.keys() & {FINISHED, PROBLEM}:
        listed = "; ".join(found.values())
        raise InputError(
            f"{folder}: mixes files of different runs: {listed}. Restore the right files"
        )


def _marks(folder: Path) -> Iterator[tuple[str, _Mark]]:
    """Yield the name of each file that can be read, and what identifies its run."""
    paths = [path for name in (TRACE, MIGRATIONS) for path in files_of(folder, name)]
    paths += [folder / FINISHED] if (folder / FINISHED).exists() else []
    paths += [folder / CHECKPOINTS / name / MANIFEST for name in newest_first(folder)]
    for path in paths:
        with suppress(InputError), parsing(path):
            yield str(path.relative_to(folder)), _mark_of(path)


def _mark_of(path: Path) -> _Mark:
    """Return the mark in a manifest, or in the metadata of a table, of which no rows are read."""
    if path.name == MANIFEST:
        manifest = inside(path.parent.parent, path.parent.name, MANIFEST)
        return _Mark(str(json.loads(bounded_text(manifest, LONGEST_MANIFEST))["run"]))
    said = metadata_of(path) if path.suffix == ".parquet" else stream_metadata(path)
    start, digest, run = (
        said.get(f"islands.{name}".encode(), b"").decode() for name in ("start", "digest", "run")
    )
    return _Mark(run, (start, digest))


def _line(text: str, begin: str) -> str:
    """Return the digest in a comment of run.toml; empty if there is none."""
    found = re.findall(rf"^{re.escape(begin)}([0-9a-f]{{64}})$", text, re.MULTILINE)
    return str(found[-1]) if found else ""
