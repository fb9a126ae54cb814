"""`run.toml`: the settings of a run, with their checksum in the last line."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from islands.errors import InputError
from islands.inside import inside
from islands.paths import published
from islands.record.folder import SETTINGS
from islands.spec.spec import RunSpec
from islands.untrusted import MISMATCH, bounded_text, read_toml

_CHECKSUM = "# SHA-256 of the lines above: "
_LAST = "checkpoint"
"""The last table in the file."""


def write_settings(folder: Path, spec: RunSpec) -> None:
    """Write the file, which marks the folder as a run's."""
    text = spec.to_toml()
    with published(inside(folder, SETTINGS)) as temporary:
        temporary.write_text(f"{text}{_CHECKSUM}{_digest(text)}\n", encoding="utf-8")


def require_intact(folder: Path) -> Path:
    """Return the path of the settings; refuse a file that was changed.

    A user who changes it on purpose can remove the checksum.
    """
    path = folder / SETTINGS
    lines, found, said = bounded_text(path).rpartition(_CHECKSUM)
    if found and said.strip() != _digest(lines):
        raise InputError(
            f"{path}: {MISMATCH}. Restore it; or, if you changed it on purpose, remove its last"
            " line, or begin a new run with: islands run --config"
        )
    if not found and _LAST not in read_toml(path):
        raise InputError(f"{path}: is truncated: it has no table [{_LAST}]. Restore it")
    return path


def read_settings(folder: Path) -> dict[str, Any]:
    """Return the settings as a dictionary."""
    return read_toml(require_intact(folder))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
