"""The presets: complete settings of published experiments, one TOML file in this folder each."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parent
PRESETS = tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))
"""The names of the presets."""


def preset_file(name: str) -> Path:
    """Return the file of a preset."""
    return _FOLDER / f"{name}.toml"
