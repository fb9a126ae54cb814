"""The presets: complete settings of published experiments, in the TOML files of this folder.

A preset has the format of a file for `--config`; options override it.

- `PRESETS`: the names of the presets.
- `preset_file`: the path of a preset.

It imports no other module of `islands`; `configuration` reads the files.
"""

from pathlib import Path

_FOLDER = Path(__file__).parent
PRESETS = tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))
"""The names of the presets."""


def preset_file(name: str) -> Path:
    """Return the file of a preset."""
    return _FOLDER / f"{name}.toml"
