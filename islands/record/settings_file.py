"""`run.toml`: the settings of a run, with their checksum in the last line."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from islands.configuration.spec import RunSpec
from islands.custom.scripts import is_loaded, parted
from islands.custom.trust import is_signed, references, signed
from islands.errors import InputError
from islands.inside import inside
from islands.paths import published
from islands.record.folder import SETTINGS
from islands.untrusted import MISMATCH, bounded_text, read_toml

_CHECKSUM = "# SHA-256 of the lines above: "
RUN_LINE = "# Identity of the run: "
SIGNATURE_LINE = "# Signature of its problem.npz: "
"""The lines that tell the files of other runs; the second, if the folder contains the problem."""
_LAST = "checkpoint"
"""The last table in the file."""


def write_settings(folder: Path, spec: RunSpec, run: str = "", signature: str = "") -> None:
    """Write the file, which marks the folder as a run's: of identity `run`, with this problem.

    Sign it if it names scripts and the user has run them. A resumed run may not have run the
    scripts of somebody else's folder, and then must not sign for them.
    """
    path, text = inside(folder, SETTINGS), spec.to_toml()
    for begin, digest in ((RUN_LINE, run), (SIGNATURE_LINE, signature)):
        text += f"{begin}{digest}\n" if digest else ""
    scripts = {parted(each)[0] for each in references(spec.stored)}
    if scripts and (all(map(is_loaded, scripts)) or _is_signed(path)):
        text = signed(text)
    with published(path) as temporary:
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


def _is_signed(path: Path) -> bool:
    return path.exists() and is_signed(bounded_text(path))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
