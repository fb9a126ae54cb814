"""The presets: complete settings of a published experiment, each a file of TOML."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "presets"
PRESETS = tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def preset_file(name: str) -> Path:
    """Return the file of a preset."""
    return _FOLDER / f"{name}.toml"
