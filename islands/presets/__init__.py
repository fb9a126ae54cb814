"""The presets: complete settings of published experiments, one TOML file in this folder each.

A preset is a file of settings in the form of `--config`; options override it. `preset_file`
returns the path of one, `PRESETS` has the names of all.

This folder imports no other part of the package; `configuration` reads it.
"""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parent
PRESETS = tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))
"""The names of the presets."""


def preset_file(name: str) -> Path:
    """Return the file of a preset."""
    return _FOLDER / f"{name}.toml"
