"""Check that all files in a folder belong to the same run, by the identity that they contain.

A file of another run may have been copied into the folder.
"""

import json
import re
from collections.abc import Iterator, Mapping
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
    """The values in a file that identify its run; empty if the file lacks them."""

    run: str
    end: tuple[str, str] = ("", "")
    """The number of the start that finished the run, and the digest of the result."""


def files_of_other_runs(folder: Path) -> dict[str, str]:
    """Return the files that do not belong to the run of `run.toml`, with the reasons.

    Ignore unreadable files, which are reported when they are read.
    """
    text = bounded_text(folder / RUN_SETTINGS)
    run, signature = _line(text, RUN_LINE), _line(text, SIGNATURE_LINE)
    marks = dict(_marks(folder))
    end = marks[FINISHED].end if FINISHED in marks else ("", "")
    reasons = {}
    for name, mark in marks.items():
        if run and mark.run and mark.run != run:
            reasons[name] = f"{name} belongs to another run, not to that of {RUN_SETTINGS}"
        elif all(end) and all(mark.end) and mark.end != end:
            reasons[name] = f"{name} belongs to another run or start, not to that of {FINISHED}"
    if signature and has_problem(folder) and stored_signature(folder) not in ("", signature):
        reasons[PROBLEM] = f"{PROBLEM} does not contain the problem of {RUN_SETTINGS}"
    return reasons


def warnings(folder: Path) -> list[str]:
    """Return the warning about files of other runs in a folder, if there are any."""
    with suppress(InputError):  # reported when the settings are read
        if (folder / RUN_SETTINGS).is_file() and (reasons := files_of_other_runs(folder)):
            return [escaped(f"{folder} {_mixture(reasons)}", kept="")]
    return []


def reject_mixture(folder: Path) -> None:
    """Reject a folder to be resumed if its result or problem belongs to another run."""
    reasons = files_of_other_runs(folder)
    if reasons.keys() & {FINISHED, PROBLEM}:
        raise InputError(f"{folder}: {_mixture(reasons)}. Restore the right files")


def _mixture(reasons: Mapping[str, str]) -> str:
    return f"mixes files of different runs: {'; '.join(reasons.values())}"


def _marks(folder: Path) -> Iterator[tuple[str, _Mark]]:
    """Yield the names and marks of all readable files."""
    paths = [path for name in (TRACE, MIGRATIONS) for path in files_of(folder, name)]
    paths += [folder / FINISHED] if (folder / FINISHED).exists() else []
    paths += [folder / CHECKPOINTS / name / MANIFEST for name in newest_first(folder)]
    for path in paths:
        with suppress(InputError), parsing(path):
            yield str(path.relative_to(folder)), _mark_of(path)


def _mark_of(path: Path) -> _Mark:
    """Return the mark in a manifest, or in the metadata of a table, without reading rows."""
    if path.name == MANIFEST:
        manifest = inside(path.parent.parent, path.parent.name, MANIFEST)
        return _Mark(str(json.loads(bounded_text(manifest, LONGEST_MANIFEST))["run"]))
    metadata = metadata_of(path) if path.suffix == ".parquet" else stream_metadata(path)
    start, digest, run = (
        metadata.get(f"islands.{key}".encode(), b"").decode() for key in ("start", "digest", "run")
    )
    return _Mark(run, (start, digest))


def _line(text: str, prefix: str) -> str:
    """Return the digest in a comment of run.toml; empty without this comment."""
    digests = re.findall(rf"^{re.escape(prefix)}([0-9a-f]{{64}})$", text, re.MULTILINE)
    return str(digests[-1]) if digests else ""
