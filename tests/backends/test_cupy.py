"""Importing CuPy, which makes a folder, if the home folder cannot be written."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("cupy") is None, reason="CuPy is absent"),
]

_FIND_GPUS = """
from islands.backends.gpus import devices
from islands.errors import InputError
try:
    print("found", devices())
except InputError as error:
    print("rejected:", error)
"""
_CACHE_VARIABLES = ("CUPY_CACHE_DIR", "ISLANDS_CACHE", "XDG_CACHE_HOME")


def found_gpus(home: str, **more: str) -> str:
    """Return what a process with this home folder prints about GPUs."""
    usual = {name: value for name, value in os.environ.items() if name not in _CACHE_VARIABLES}
    line, env = [sys.executable, "-c", _FIND_GPUS], {**usual, "HOME": home, **more}
    done = subprocess.run(line, env=env, text=True, capture_output=True, check=True)
    return done.stdout.strip()


def test_its_folder_is_in_the_cache(tmp_path: Path) -> None:
    cache, home = tmp_path / "cache", tmp_path / "home"
    home.mkdir()
    for place in (os.devnull, str(home)):
        assert "found" in found_gpus(place, ISLANDS_CACHE=str(cache))
        assert [path.name for path in cache.iterdir()] == ["cupy"]
    # The driver of a GPU keeps a folder of its own there.
    assert [path.name for path in home.iterdir() if path.name != ".nv"] == []


@pytest.mark.parametrize("variable", ["ISLANDS_CACHE", "CUPY_CACHE_DIR"])
def test_the_error_without_a_folder_names_the_variable_to_set(variable: str) -> None:
    more = {"CUPY_CACHE_DIR": f"{os.devnull}/own"} if variable == "CUPY_CACHE_DIR" else {}
    message = found_gpus(os.devnull, **more)
    assert message.startswith(f"rejected: CuPy cannot create its cache folder: {os.devnull}/")
    assert message.endswith(f": Not a directory. Set {variable} to a folder in which you may write")
